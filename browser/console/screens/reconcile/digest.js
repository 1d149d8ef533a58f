/**
 * Digests of what a file says, by type and day (docs/queries.md, "matters/digest"), and where they are others
 * than the service's. Pure.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { createDayCalendar } from '../../../../src/queries/day-calendar';
import { createSlices } from '../../kit/slices.js';

/** @typedef {import('../../../../src/queries/reconcile/expected').ExpectedMatter} ExpectedMatter */
/** @typedef {{ readonly bizType: string | null, readonly day: string | null, readonly count: number, readonly hash: string }} Bucket */
/** @typedef {{ bizType: string | null, day: string | null, count: number, hash: bigint }} Sum */
/** @typedef {{ readonly bizType: string | null, readonly day: string | null, readonly yours: number, readonly here: number, readonly isSame: boolean }} Cell */

/** @param {{ externalId: string, bizStatus: string, externalStatusCode?: string | null, sourceUpdatedAt?: number | null }} matter */
export const digestLine = ({ externalId, bizStatus, externalStatusCode, sourceUpdatedAt }) =>
  `${externalId}\n${bizStatus}\n${externalStatusCode ?? ''}\n${sourceUpdatedAt ?? ''}`;

/** Sums of matters, by type and day. */
export class Digests {
  /** @type {Map<string, Sum>} */
  #sums = new Map();

  /** @param {string | null} bizType @param {string | null} day @param {string} line */
  add(bizType, day, line) {
    const { buffer, byteOffset } = sha256(utf8ToBytes(line));
    this.#addTo(bizType, day, 1, new DataView(buffer, byteOffset).getBigUint64(0));
  }

  /** @param {Bucket} bucket of the answer of the service */
  addBucket({ bizType, day, count, hash }) {
    this.#addTo(bizType, day, count, BigInt(`0x${hash}`));
  }

  /** @param {string | null} bizType @param {string | null} day @param {number} count @param {bigint} hash */
  #addTo(bizType, day, count, hash) {
    const key = JSON.stringify([bizType, day]);
    const sum = this.#sums.get(key) ?? { bizType, day, count: 0, hash: 0n };
    sum.count += count;
    sum.hash ^= hash;
    this.#sums.set(key, sum);
  }

  /** @returns {Bucket[]} */
  buckets() {
    return Array.from(this.#sums.values(), (sum) => {
      return { ...sum, hash: sum.hash.toString(16).padStart(16, '0') };
    });
  }
}

/** What a line has of a matter beside its id. */
const HASHED = /** @type {const} */ (['bizStatus', 'externalStatusCode', 'sourceUpdatedAt']);

/**
 * What of the matters can be compared by digests: `hash` where they state all that a line has, `count` where days
 * alone are known, `none` without times.
 *
 * @param {readonly ExpectedMatter[]} matters
 * @returns {'hash' | 'count' | 'none'}
 */
export function comparableBy(matters) {
  const alive = matters.filter(({ expected }) => expected.deleted !== true);
  if (!alive.some(({ expected }) => typeof expected.sourceUpdatedAt === 'number')) return 'none';
  const isWhole = alive.every(
    (matter) =>
      HASHED.every((name) => matter.expected[name] !== undefined) && !leavesSecondsOpen(matter),
  );
  return isWhole ? 'hash' : 'count';
}

/** A spreadsheet writes no seconds: the digest of such a time is not that of the ledger. @param {ExpectedMatter} matter */
const leavesSecondsOpen = (matter) =>
  matter.kind === 'row' && (matter.precisions?.sourceUpdatedAt ?? 0) > 1_000;

/** @param {ExpectedMatter} matter */
const typeOf = (matter) => {
  const type = matter.kind === 'folded' ? matter.expected.bizType : matter.pushed.bizType;
  return typeof type === 'string' ? type.trim() : null;
};

/**
 * @param {readonly ExpectedMatter[]} matters
 * @param {readonly Bucket[]} here
 * @param {{ timeZone: string, signal?: AbortSignal }} context
 * @returns {Promise<{ cells: readonly Cell[], byHash: boolean, hasTypes: boolean }>}
 */
export async function compareDigests(matters, here, { timeZone, signal }) {
  const byHash = comparableBy(matters) === 'hash';
  // A file that knows no types is compared by days alone.
  const hasTypes = matters.some((matter) => typeOf(matter) !== null);
  const dayOf = createDayCalendar(timeZone);
  const slices = createSlices(signal);
  const [yours, theirs] = [new Digests(), new Digests()];
  for (const matter of matters) {
    const { expected } = matter;
    if (expected.deleted) continue;
    const at = expected.sourceUpdatedAt;
    const day = typeof at === 'number' ? dayOf(at) : null;
    const { bizStatus = '' } = expected;
    yours.add(hasTypes ? typeOf(matter) : null, day, digestLine({ ...expected, bizStatus }));
    if (slices.isDue()) await slices.rest();
  }
  for (const bucket of here) {
    theirs.addBucket(hasTypes ? bucket : { ...bucket, bizType: null });
  }
  return { cells: cellsOf(yours.buckets(), theirs.buckets(), byHash), byHash, hasTypes };
}

/** @param {readonly Bucket[]} yours @param {readonly Bucket[]} here @param {boolean} byHash @returns {Cell[]} */
export function cellsOf(yours, here, byHash) {
  const keyOf = (/** @type {Bucket} */ { bizType, day }) => JSON.stringify([bizType, day]);
  const ours = new Map(here.map((bucket) => [keyOf(bucket), bucket]));
  const theirs = new Map(yours.map((bucket) => [keyOf(bucket), bucket]));
  return [...new Set([...theirs.keys(), ...ours.keys()])].map((key) => {
    const [a, b] = [theirs.get(key), ours.get(key)];
    const { bizType, day } = /** @type {Bucket} */ (a ?? b);
    const isSame = a?.count === b?.count && (!byHash || a?.hash === b?.hash);
    return { bizType, day, yours: a?.count ?? 0, here: b?.count ?? 0, isSame };
  });
}
