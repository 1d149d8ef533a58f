/** Counts the wrong tokens of each address. The right token is accepted whatever the count is. */

export interface Tries {
  /** Whether this address has sent fewer wrong tokens than the limit in the current span. */
  mayTry(address: string): boolean;
  wrong(address: string): void;
}

/** Wrong tokens of one address within a span of milliseconds. */
const MOST = 10;
const SPAN = 60_000;
/** Addresses that are remembered; further ones share one count. */
const MOST_ADDRESSES = 1_000;
const OTHERS = '';

/** @param clock milliseconds that never go back */
export function createTries(clock: () => number = () => performance.now()): Tries {
  const counts = new Map<string, { count: number; until: number }>();
  const keyOf = (address: string) => {
    if (counts.has(address)) return address;
    for (const [key, { until }] of counts) if (until <= clock()) counts.delete(key);
    return counts.size < MOST_ADDRESSES ? address : OTHERS;
  };
  return {
    mayTry: (address) => {
      const known = counts.get(keyOf(address));
      return !known || known.until <= clock() || known.count < MOST;
    },
    wrong: (address) => {
      const key = keyOf(address);
      const known = counts.get(key);
      const isOver = !known || known.until <= clock();
      counts.set(
        key,
        isOver ? { count: 1, until: clock() + SPAN } : { ...known, count: known.count + 1 },
      );
    },
  };
}
