/** Histograms of durations with logarithmic buckets. Percentiles from 1 ms to about 2 hours are accurate to 15 %. */

/** For each bucket: the number of durations. */
export type Durations = Readonly<Record<string, number>>;

const GROWTH = 1.15;
/** The last bucket contains all durations of about two hours and longer. */
const LAST_BUCKET = 114;

/** @param ms milliseconds; a negative value counts as zero */
export function durationBucket(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(LAST_BUCKET, 1 + Math.floor(Math.log(ms) / Math.log(GROWTH)));
}

/**
 * @param share above 0 and at most 1, for example 0.99 for the 99th percentile
 * @returns milliseconds; undefined if there are no durations
 */
export function percentile(durations: Durations, share: number): number | undefined {
  const buckets = Object.entries(durations)
    .map(([name, count]) => ({ bucket: Number(name), count }))
    .sort((a, b) => a.bucket - b.bucket);
  const rank = share * buckets.reduce((sum, { count }) => sum + count, 0);
  let below = 0;
  for (const { bucket, count } of buckets) {
    if (below + count >= rank && count > 0) return interpolate(bucket, (rank - below) / count);
    below += count;
  }
  return undefined;
}

/** Returns milliseconds. `fraction` is 0 at the start of the bucket and 1 at the end. */
const interpolate = (bucket: number, fraction: number) =>
  bucket === 0 ? fraction : GROWTH ** (bucket - 1 + fraction);

export function addDurations(sum: Record<string, number>, added: Durations): void {
  for (const [name, count] of Object.entries(added)) sum[name] = (sum[name] ?? 0) + count;
}
