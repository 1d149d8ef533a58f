/** Clients' secrets at rest: sealed for one client, opened by any key of the ring, never tampered. */
import fc from 'fast-check';
import { createKeyRing, keyIdOf } from '../../../src/storage/directory/sealing';

const key = (id: string, fill: number) => `${id}:${Buffer.alloc(32, fill).toString('base64')}`;
const K1 = key('k1', 1);
const K2 = key('k2', 2);
const ring = createKeyRing([K1]);
const texts = fc.string({ unit: 'binary', maxLength: 100 });

test('what is sealed for a client opens for that client', () => {
  fc.assert(
    fc.property(texts, texts, (secret, clientId) => {
      expect(ring.open(ring.seal(secret, clientId), clientId)).toBe(secret);
    }),
  );
});

test('a seal does not open for another client', () => {
  fc.assert(
    fc.property(texts, texts, texts, (secret, clientId, other) => {
      fc.pre(clientId !== other);
      const sealed = ring.seal(secret, clientId);
      expect(() => ring.open(sealed, other)).toThrow();
    }),
  );
});

test('a seal tells neither the secret nor that two are the same', () => {
  const [first, second] = [ring.seal('hunter2', 'c'), ring.seal('hunter2', 'c')];
  expect(first).not.toBe(second);
  for (const form of ['utf8', 'base64url', 'hex'] as const) {
    expect(first).not.toContain(Buffer.from('hunter2').toString(form));
  }
});

test('after a rotation of keys the first one seals and the old one still opens', () => {
  const old = ring.seal('hunter2', 'c');
  const rotated = createKeyRing([K2, K1]);
  expect(rotated.open(old, 'c')).toBe('hunter2');
  expect(rotated.sealingKey).toBe('k2');
  expect([old, rotated.seal('hunter2', 'c')].map(keyIdOf)).toEqual(['k1', 'k2']);
});

test('a key that left the ring is named, so that the operator knows which one is missing', () => {
  const old = ring.seal('hunter2', 'c');
  expect(() => createKeyRing([K2]).open(old, 'c')).toThrow(/"k1"/);
  expect(() => createKeyRing([key('k1', 3)]).open(old, 'c')).toThrow();
});

const flip = (part: string) => (part.startsWith('A') ? 'B' : 'A') + part.slice(1);
const short = (part: string) => Buffer.from(part, 'base64url').subarray(0, 4).toString('base64url');
test.each<[string, (iv: string, tag: string, data: string) => string[]]>([
  ['the nonce', (iv, tag, data) => [flip(iv), tag, data]],
  ['the tag', (iv, tag, data) => [iv, flip(tag), data]],
  ['the data', (iv, tag, data) => [iv, tag, flip(data)]],
  ['the tag cut short, which could be guessed', (iv, tag, data) => [iv, short(tag), data]],
  ['the tag left out', (iv, _, data) => [iv, '', data]],
  ['the data left out', (iv, tag) => [iv, tag]],
])('a seal that was changed does not open: %s', (_, change) => {
  const [id = '', iv = '', tag = '', data = ''] = ring.seal('hunter2', 'c').split('.');
  expect(ring.open([id, iv, tag, data].join('.'), 'c')).toBe('hunter2');
  expect(() => ring.open([id, ...change(iv, tag, data)].join('.'), 'c')).toThrow();
});
