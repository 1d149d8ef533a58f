/**
 * Times counted in buckets whose width grows with them, a fifth each: a few dozen numbers tell p50 and
 * p95 of any crowd within a tenth, and those of several processes are added up.
 */

/** Buckets of a doubling. */
const PER_DOUBLING = 4;
/** The last bucket takes the rest: a minute and more. */
const LAST = 17 * PER_DOUBLING;

/** How many times fell into each bucket, by its number. */
export type Buckets = Map<number, number>;

/** @param ms milliseconds; below zero (a clock that was set back) counts as zero */
export function addTime(buckets: Buckets, ms: number, count = 1): void {
  addTo(buckets, Math.min(LAST, Math.floor(Math.log2(Math.max(0, ms) + 1) * PER_DOUBLING)), count);
}

/** Adds all of `more` to `buckets`. */
export function addBuckets(buckets: Buckets, more: Iterable<readonly [number, number]>): void {
  for (const [bucket, count] of more) addTo(buckets, bucket, count);
}

/** @param share 0.5 for the median. @returns milliseconds, whole; null where nothing was counted */
export function percentile(buckets: Buckets, share: number): number | null {
  const total = [...buckets.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const bucket of [...buckets.keys()].sort((a, b) => a - b)) {
    seen += buckets.get(bucket) ?? 0;
    if (seen >= share * total) return middleOf(bucket);
  }
  return middleOf(LAST);
}

const middleOf = (bucket: number) => Math.round(2 ** ((bucket + 0.5) / PER_DOUBLING) - 1);

function addTo(buckets: Buckets, bucket: number, count: number): void {
  buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
}
