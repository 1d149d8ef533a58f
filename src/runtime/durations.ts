/**
 * Durations as counts in classes that grow by 15 %: about a hundred of them cover everything from a
 * millisecond to hours, can be added up across processes, and give percentiles to within 15 %.
 */

/** Counts by class. */
export type Durations = Readonly<Record<string, number>>;

const GROWTH = 1.15;
/** Of the last class, which has no end: about two hours. */
const LAST = 114;

/** @param ms milliseconds; clocks are set back now and then */
export function durationClass(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(LAST, 1 + Math.floor(Math.log(ms) / Math.log(GROWTH)));
}

/**
 * @param share of the durations that are not longer, above 0 and at most 1
 * @returns milliseconds; undefined where there are no durations
 */
export function percentile(durations: Durations, share: number): number | undefined {
  const classes = Object.entries(durations)
    .map(([name, count]) => ({ class: Number(name), count }))
    .sort((a, b) => a.class - b.class);
  const wanted = share * classes.reduce((sum, { count }) => sum + count, 0);
  let below = 0;
  for (const { class: at, count } of classes) {
    if (below + count >= wanted && count > 0) return within(at, (wanted - below) / count);
    below += count;
  }
  return undefined;
}

/** As if the durations of a class were spread evenly over it, on its own scale. */
const within = (at: number, share: number) => (at === 0 ? share : GROWTH ** (at - 1 + share));

/** Adds `more` to `sum`. */
export function addDurations(sum: Record<string, number>, more: Durations): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}
