/** Finds a caller's mistakes in a signature. */

import { OPERATIONS, type OperationName } from '../domain/operation';
import type { Difference } from '../protocol/log-page';
import { pushPath, queryPath } from '../protocol/paths';
import type { StoredSecret } from '../storage/directory';
import type { LogEntry, SentSignature } from '../storage/push-log';
import { type BodyVariant, bodyVariants } from './body-variants';
import { type Cause, type CauseFinding, toFinding } from './causes';
import { type Algorithm, formOf, HMAC_SHA256, matchesSent, OTHER_ALGORITHMS } from './digests';
import { type KeyVariant, keyVariants } from './keys';
import { CORRECT_TEXT, fillTemplate, type SigningText, signingTexts } from './signing-texts';
import { type TimeVariant, timestampFinding, timeVariants } from './timestamps';

/**
 * Yields true after each computed digest, and false after each skipped body variant. Returns undefined if no known
 * mistake explains the signature.
 */
export type Search = Generator<boolean, readonly CauseFinding[] | undefined>;

export function* search(request: SignatureRejection, secrets: readonly StoredSecret[]): Search {
  const { sent } = request;
  if (secrets.some(({ secret }) => matchesSent(secret, sent)))
    return [toFinding('SIGNATURE_IS_SECRET')];
  const { keys, deviations } = trialsOf(request, secrets);
  for (const deviation of deviations) {
    if (!deviation) {
      yield false;
      continue;
    }
    for (const key of deviation.key ? [deviation.key] : keys) {
      const digest = digestOf(request, deviation, key);
      if (!digest) continue;
      yield true;
      const form = formOf(digest, sent);
      if (form) return findingsOf(request, deviation, form);
    }
  }
  return undefined;
}

/** @returns undefined if the timestamp or a required body is unknown */
function digestOf(
  { clientId, sent, body: received, path }: SignatureRejection,
  { text: other, time, body, algorithm = HMAC_SHA256 }: Deviation,
  { key, secret }: KeyVariant,
): Buffer | undefined {
  const text = other ?? CORRECT_TEXT;
  const bytes = body ? body.bytes : received;
  const stamp = time ? time.time : sent.timestamp;
  if ((text.hasBody && !bytes) || stamp === undefined) return undefined;
  const operation = path.slice(path.lastIndexOf('/') + 1);
  const signed = { client: clientId, time: stamp, path, operation, secret };
  const before = fillTemplate(text.before, signed);
  const parts =
    text.hasBody && bytes ? [before, bytes, fillTemplate(text.after, signed)] : [before];
  return algorithm.digest(key, parts);
}

/** A possible mistake in one part of a signature. If `cause` is undefined, this part is correct. */
interface Mistake {
  readonly cause: Cause | undefined;
  readonly how?: string;
}

function findingsOf(
  { body: received, sent, receivedAt }: SignatureRejection,
  { key, text, time, body, algorithm }: Deviation,
  form: Mistake,
): readonly CauseFinding[] {
  const named = ({ cause, how }: Partial<Mistake> = {}) => (cause ? [toFinding(cause, how)] : []);
  const difference = body?.hasSameContent && received && differenceOf(received, body.bytes);
  const found = [
    ...named(key),
    ...named(text),
    ...named(time),
    ...named(algorithm),
    ...named(form),
    ...(body ? [toFinding(body.cause, body.how, difference || undefined)] : []),
  ];
  const isExplained = found.length > 0 || timestampFinding(sent.timestamp, receivedAt);
  return isExplained ? found : [toFinding('SIGNATURE_RIGHT')];
}

/** The mistakes that the search tries together. At most two of the fields are set. */
export interface Deviation {
  readonly key?: KeyVariant;
  readonly body?: BodyVariant;
  readonly text?: SigningText;
  readonly time?: TimeVariant;
  readonly algorithm?: Algorithm;
}

type Name = keyof Deviation;

/** All mistakes in one field of `Deviation`, for example in the key. */
interface Kind {
  /** Mistakes that the search tries alone and in pairs. */
  readonly common: () => Iterable<Deviation | undefined>;
  /** Mistakes that the search tries only alone. */
  readonly others: () => Iterable<Deviation>;
}

const SINGLES: readonly Name[] = ['key', 'text', 'time', 'body', 'algorithm'];
/**
 * The search tries the pairs in this order. `body` must be first in a pair, because body variants are slow. The
 * search runs through the variants of the first field only once.
 */
const PAIRS: readonly (readonly [Name, Name])[] = [
  ['body', 'key'],
  ['key', 'text'],
  ['time', 'text'],
  ['time', 'key'],
  ['body', 'text'],
  ['body', 'time'],
  ['algorithm', 'text'],
  ['algorithm', 'key'],
  ['body', 'algorithm'],
];

export interface Trials {
  /** The valid secrets. */
  readonly keys: readonly KeyVariant[];
  /** Undefined stands for a skipped body variant. */
  readonly deviations: Iterable<Deviation | undefined>;
}

export function trialsOf(
  { clientId, sent, body, receivedAt }: SignatureRejection,
  secrets: readonly StoredSecret[],
): Trials {
  const keys = keyVariants(clientId, secrets, receivedAt);
  const isValid = ({ cause, isQueryKey }: KeyVariant) => cause === undefined && !isQueryKey;
  const queryKeys = keys.filter(({ isQueryKey }) => isQueryKey).map((key) => ({ key }));
  const wrongKeys = keys.filter((key) => !isValid(key) && !key.isQueryKey);
  const bodies = function* () {
    for (const variant of bodyVariants(body)) yield variant && { body: variant };
  };
  const kinds: Readonly<Record<Name, Kind>> = {
    key: kindOf(wrongKeys, (key) => ({ key })),
    text: kindOf(signingTexts(clientId), (text) => ({ text })),
    time: kindOf([...timeVariants(sent.timestamp ?? '')], (time) => ({ time })),
    algorithm: kindOf(OTHER_ALGORITHMS, (algorithm) => ({ algorithm })),
    body: { common: bodies, others: () => [] },
  };
  return { keys: keys.filter(isValid), deviations: inOrder(kinds, queryKeys) };
}

function kindOf<T extends { readonly isCommon: boolean }>(
  variants: readonly T[],
  deviate: (variant: T) => Deviation,
): Kind {
  const common = variants.filter(({ isCommon }) => isCommon).map(deviate);
  const others = variants.filter(({ isCommon }) => !isCommon).map(deviate);
  return { common: () => common, others: () => others };
}

function* inOrder(
  kinds: Readonly<Record<Name, Kind>>,
  queryKeys: readonly Deviation[],
): Generator<Deviation | undefined> {
  yield {};
  yield* queryKeys;
  for (const name of SINGLES) yield* kinds[name].common();
  for (const name of SINGLES) yield* kinds[name].others();
  for (const [one, other] of PAIRS) {
    for (const first of kinds[one].common()) {
      if (!first) yield undefined;
      else for (const second of kinds[other].common()) yield { ...first, ...second };
    }
  }
}

/** A logged request that was rejected because of its signature or timestamp. */
export interface SignatureRejection {
  readonly clientId: string;
  readonly sent: SentSignature;
  /** Undefined if the log does not contain the body. */
  readonly body: Uint8Array | undefined;
  readonly path: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
}

export function rejectedRequest(
  { clientId, operation, signature, receivedAt }: LogEntry,
  body: Uint8Array | undefined,
): SignatureRejection | undefined {
  if (!signature) return undefined;
  const isPush = OPERATIONS.some((name) => name === operation);
  const path = isPush ? pushPath(operation as OperationName) : queryPath(operation);
  return { clientId, sent: signature, body, path, receivedAt: receivedAt.getTime() };
}

/** Number of bytes that `differenceOf` shows on each side of the first difference. */
const AROUND = 16;

export function differenceOf(sent: Uint8Array, signed: Uint8Array): Difference {
  const end = Math.min(sent.length, signed.length);
  let offset = 0;
  while (offset < end && sent[offset] === signed[offset]) offset += 1;
  return { offset, sent: around(sent, offset), signed: around(signed, offset) };
}

const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u202f\u205f\u3000]/gu;

/** Returns the text around `offset`, in whole UTF-8 characters. */
function around(bytes: Uint8Array, offset: number): string {
  const isInner = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80;
  let from = Math.max(0, offset - AROUND);
  while (from > 0 && isInner(from)) from -= 1;
  let to = Math.min(bytes.length, offset + AROUND);
  while (to < bytes.length && isInner(to)) to += 1;
  const text = Buffer.from(bytes.subarray(from, to)).toString('utf8');
  return JSON.stringify(text).slice(1, -1).replace(INVISIBLE, escaped);
}

function escaped(invisible: string): string {
  const units = Array.from({ length: invisible.length }, (_, at) => invisible.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
