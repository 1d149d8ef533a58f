/** The correct algorithm and text form of a signature, and the wrong ones that callers use. */
import { createHash, createHmac } from 'node:crypto';
import { hashSignature, type SentSignature } from '../storage/push-log';
import type { Cause } from './causes';
import { pythonBytes } from './json-text';

/** Computes a digest from a key and the parts of a text. */
export interface Algorithm {
  /** Undefined for the right algorithm. */
  readonly cause: Cause | undefined;
  /** Detail of the mistake. `toFinding` appends the detail to the explanation. */
  readonly how?: string;
  readonly digest: (key: Key, parts: readonly Part[]) => Buffer;
  /** True: the search combines this algorithm with other mistakes. */
  readonly isCommon: boolean;
}

type Part = string | Uint8Array;
type Key = string | Buffer;

const hmac =
  (name: string): Algorithm['digest'] =>
  (key, parts) => {
    const made = createHmac(name, key);
    for (const part of parts) made.update(part);
    return made.digest();
  };
const hash =
  (name: string, order: (key: Key, parts: readonly Part[]) => readonly Part[]) =>
  (key: Key, parts: readonly Part[]) => {
    const made = createHash(name);
    for (const part of order(key, parts)) made.update(part);
    return made.digest();
  };

export const HMAC_SHA256: Algorithm = {
  ...{ cause: undefined, digest: hmac('sha256'), isCommon: true },
};

const plainHashes = (name: string, isCommon: boolean): Algorithm[] => [
  { cause: 'NOT_HMAC', how: name, digest: hash(name, (_key, parts) => parts), isCommon },
  {
    ...{ cause: 'NOT_HMAC', how: `${name}, the secret before the text`, isCommon },
    digest: hash(name, (key, parts) => [key, ...parts]),
  },
  {
    ...{ cause: 'NOT_HMAC', how: `${name}, the secret after the text`, isCommon },
    digest: hash(name, (key, parts) => [...parts, key]),
  },
];
const otherHmac = (name: string, isCommon: boolean): Algorithm => ({
  ...{ cause: 'HASH_OTHER', how: name, digest: hmac(name), isCommon },
});

export const OTHER_ALGORITHMS: readonly Algorithm[] = [
  ...['sha1', 'sha512', 'md5'].map((name) => otherHmac(name, true)),
  ...['sha384', 'sha224', 'sha512-256', 'sha3-256'].map((name) => otherHmac(name, false)),
  {
    ...{ cause: 'KEY_AND_TEXT_SWAPPED', isCommon: true },
    digest: (key, parts) => {
      const text = Buffer.concat(parts.map(bytes));
      return createHmac('sha256', text).update(key).digest();
    },
  },
  ...plainHashes('sha256', true),
  ...['md5', 'sha1'].flatMap((name) => plainHashes(name, false)),
];

const bytes = (part: Part) => (typeof part === 'string' ? Buffer.from(part) : part);

interface Form {
  /** Undefined for the right form. */
  readonly cause: Cause | undefined;
  /** Detail of the mistake, as in `Algorithm`. */
  readonly how?: string;
  readonly write: (digest: Buffer) => string;
  /** Lower and upper limit of the length of the signature; absent if the length is constant. */
  readonly lengths?: readonly [number, number];
}

const hex = (digest: Buffer) => digest.toString('hex');
const base64 = (digest: Buffer) => digest.toString('base64');
const pairs = (digest: Buffer) => hex(digest).match(/../g) ?? [];
const PREFIXES = ['sha256=', 'SHA256=', 'sha256:', 'v1=', 'v0=', '0x', 'hmac ', 'HMAC ', 'Bearer '];
/** `openssl dgst -hmac` prints one of these names and `= ` before the digest. */
const OPENSSL_NAMES = [
  ...['(stdin)', 'SHA2-256(stdin)', 'SHA256(stdin)', 'HMAC-SHA256(stdin)', 'HMAC-SHA2-256(stdin)'],
];
const PREFIX_AND_SUFFIX: readonly (readonly [string, string])[] = [
  ...[...PREFIXES, 'HMAC-SHA256 ', 'hmac-sha256 '].map((prefix) => [prefix, ''] as const),
  ...[`"`, `'`].map((quote) => [quote, quote] as const),
  ...OPENSSL_NAMES.map((name) => [`${name}= `, ''] as const),
];

const WHOLE_NUMBER = 'the whole number, like new BigInteger(1, bytes) in Java';
const SIGNED_NUMBER = 'the digest as a signed number, like new BigInteger(bytes) in Java';
const SIGN_BIT = 0x80;

function asSignedNumber(digest: Buffer): string {
  const number = BigInt(`0x${hex(digest)}`);
  const isNegative = (digest[0] ?? 0) >= SIGN_BIT;
  return (isNegative ? number - 2n ** BigInt(8 * digest.length) : number).toString(16);
}

const HEX: Form = { cause: undefined, write: hex };
const BASE64: readonly Form[] = [
  { cause: 'SIGNATURE_BASE64', write: base64 },
  { cause: 'SIGNATURE_BASE64', how: 'base64url', write: (it) => it.toString('base64url') },
  { cause: 'SIGNATURE_BASE64', how: 'unpadded', write: (it) => base64(it).replaceAll('=', '') },
];
export const OTHER_FORMS: readonly Form[] = [
  ...BASE64,
  {
    ...{ cause: 'SIGNATURE_BASE64', how: 'percent-encoded', lengths: [44, 132] },
    write: (it) => encodeURIComponent(base64(it)),
  },
  ...PREFIX_AND_SUFFIX.flatMap(([before, after]): Form[] => [
    { cause: 'SIGNATURE_PREFIXED', how: before.trim(), write: (it) => before + hex(it) + after },
    {
      ...{ cause: 'SIGNATURE_PREFIXED', how: `${before.trim()}; the signature is in base64` },
      write: (it) => before + base64(it) + after,
    },
  ]),
  ...['-', ':', ' '].flatMap((separator): Form[] => [
    { cause: 'SIGNATURE_SEPARATED', write: (it) => pairs(it).join(separator) },
    { cause: 'SIGNATURE_SEPARATED', write: (it) => pairs(it).join(separator).toUpperCase() },
  ]),
  {
    ...{ cause: 'SIGNATURE_RAW', how: 'bytes in a Python f-string', lengths: [35, 131] },
    write: pythonBytes,
  },
  { cause: 'SIGNATURE_RAW', write: (it) => it.toString('latin1') },
  // The caller decoded the digest as UTF-8, and the HTTP library sent `?` for characters outside Latin-1.
  {
    ...{ cause: 'SIGNATURE_RAW', lengths: [8, 32] },
    write: (it) => it.toString('utf8').replace(/[\u0100-\uffff]/g, '?'),
  },
  // The caller decoded the digest as UTF-8, and the HTTP library sent the text as UTF-8 bytes.
  {
    ...{ cause: 'SIGNATURE_RAW', lengths: [32, 96] },
    write: (it) => Buffer.from(it.toString('utf8')).toString('latin1'),
  },
  {
    ...{ cause: 'SIGNATURE_UNPADDED', lengths: [32, 64] },
    write: (it) => [...it].map((byte) => byte.toString(16)).join(''),
  },
  {
    ...{ cause: 'SIGNATURE_UNPADDED', how: 'each byte as a signed number', lengths: [32, 256] },
    write: (it) => [...it].map((b) => (b < 128 ? b : b + 0xffffff00).toString(16)).join(''),
  },
  {
    ...{ cause: 'SIGNATURE_UNPADDED', how: WHOLE_NUMBER, lengths: [1, 63] },
    write: (it) => hex(it).replace(/^0+/, ''),
  },
  {
    ...{ cause: 'SIGNATURE_UNPADDED', how: SIGNED_NUMBER, lengths: [1, 65] },
    write: asSignedNumber,
  },
  { cause: 'SIGNATURE_ENCODED_TWICE', write: (it) => base64(Buffer.from(hex(it))) },
  { cause: 'SIGNATURE_ENCODED_TWICE', write: (it) => Buffer.from(hex(it)).toString('hex') },
  { cause: 'SIGNATURE_ENCODED_TWICE', write: (it) => Buffer.from(base64(it)).toString('hex') },
];

const BYTES = 32;
const SAMPLE = Buffer.alloc(BYTES);
const FORMS = OTHER_FORMS.map((form) => {
  const { length } = form.write(SAMPLE);
  return { form, lengths: form.lengths ?? ([length, length] as const) };
});
/** Minimum length of a signature that was cut off. */
const SHORTEST = 16;

export function formOf(digest: Buffer, sent: SentSignature): Form | undefined {
  return formsFor(digest, sent.length).find((form) => matchesSent(form.write(digest), sent));
}

export function matchesSent(text: string, { length, hash: sent }: SentSignature): boolean {
  return text.length === length && hashSignature(text) === sent;
}

function formsFor(digest: Buffer, length: number): readonly Form[] {
  // Hex has two characters for each byte.
  if (length === digest.length * 2) return [HEX];
  if (digest.length !== BYTES) return BASE64;
  const fitting = FORMS.filter(({ lengths: [min, max] }) => length >= min && length <= max);
  const forms = fitting.map(({ form }) => form);
  if (length < SHORTEST || length > BYTES * 2) return forms;
  return [...forms, { cause: 'SIGNATURE_CUT', write: (it) => hex(it).slice(0, length) }];
}
