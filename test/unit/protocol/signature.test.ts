/** The signature of contract 3.1, against vectors that other programs computed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSignatureForm, sign, verify } from '../../../src/protocol/signature';

interface Vector {
  readonly name: string;
  readonly secret: string;
  readonly clientId: string;
  readonly timestamp: string;
  readonly bodyHex: string;
  readonly signature: string;
}

const file = readFileSync(join(__dirname, 'signature-vectors.json'), 'utf8');
const { vectors }: { vectors: Vector[] } = JSON.parse(file);
const bodyOf = ({ bodyHex }: Vector) => Buffer.from(bodyHex, 'hex');

test.each(vectors)('what callers sign, we sign: $name', (vector) => {
  const { secret, clientId, timestamp, signature } = vector;
  expect(sign(secret, clientId, timestamp, bodyOf(vector))).toBe(signature);
  expect(verify(secret, clientId, timestamp, bodyOf(vector), signature)).toBe(true);
});

test.each(vectors)('the case of the hex digits does not matter: $name', (vector) => {
  const { secret, clientId, timestamp, signature } = vector;
  const upper = signature.toUpperCase();
  expect(isSignatureForm(upper)).toBe(true);
  expect(verify(secret, clientId, timestamp, bodyOf(vector), upper)).toBe(true);
});

test.each([
  ['one byte of the body', (v: Vector) => ({ ...v, bodyHex: `${v.bodyHex}20` })],
  ['the client id', (v: Vector) => ({ ...v, clientId: `${v.clientId}x` })],
  ['the timestamp', (v: Vector) => ({ ...v, timestamp: `0${v.timestamp}` })],
  ['the secret', (v: Vector) => ({ ...v, secret: `${v.secret}x` })],
  [
    'one bit of the signature',
    (v: Vector) => ({ ...v, signature: v.signature.replace(/.$/, (c) => (c === '0' ? '1' : '0')) }),
  ],
])('nothing signed may change: %s', (_, change) => {
  for (const vector of vectors.map(change)) {
    const { secret, clientId, timestamp, signature } = vector;
    expect(verify(secret, clientId, timestamp, bodyOf(vector), signature)).toBe(false);
  }
});

test('a text is signed as its UTF-8 bytes', () => {
  const text = '{"title":"请假 🚀"}';
  expect(sign('s', 'c', '1', text)).toBe(sign('s', 'c', '1', Buffer.from(text, 'utf8')));
});

test.each([
  ['63 digits', 'a'.repeat(63), false],
  ['64 digits', 'a'.repeat(64), true],
  ['65 digits', 'a'.repeat(65), false],
  ['mixed case', 'aB'.repeat(32), true],
  ['no hex digit', `${'a'.repeat(63)}g`, false],
  ['empty', '', false],
  ['trailing line feed', `${'a'.repeat(64)}\n`, false],
  ['trailing junk', `${'a'.repeat(64)} x`, false],
  ['leading 0x', `0x${'a'.repeat(62)}`, false],
  ['scheme in front', `sha256=${'a'.repeat(64)}`, false],
  ['full-width digits', '１'.repeat(64), false],
])('a signature is 64 hex digits: %s', (_, value, isForm) => {
  expect(isSignatureForm(value)).toBe(isForm);
});
