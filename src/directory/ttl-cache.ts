/** A value that is read on demand and believed for a short time; who asks meanwhile shares one load. */
import type { Clock } from '../clock';

interface Kept<V> {
  readonly value: Promise<V>;
  /** Begin of its load. */
  readonly since: number;
}

export interface TtlCache<V> {
  /** @param maxAge milliseconds, where the value must be younger than usual */
  get(maxAge?: number): Promise<V>;
}

/**
 * Half of its time before a value ends, who asks next starts the load of its successor, and waits
 * for it only where it is not there in time.
 *
 * @param load reads the value; a failed load is not kept
 * @param ttl how long a value is believed, in milliseconds from the begin of its load: a load that
 *   is stuck is not waited for by those who ask later
 */
export function createTtlCache<V>(
  load: () => Promise<V>,
  { ttl, clock }: { ttl: number; clock: Clock },
): TtlCache<V> {
  let kept: Kept<V> | undefined;
  let coming: Kept<V> | undefined;
  const start = (now: number): Kept<V> => {
    const entry = { value: load(), since: now };
    coming = entry;
    const end = (isGood: boolean) => {
      if (coming !== entry) return;
      coming = undefined;
      if (isGood) kept = entry;
    };
    entry.value.then(
      () => end(true),
      () => end(false),
    );
    return entry;
  };
  return {
    get: (maxAge = ttl) => {
      const now = clock();
      const isFresh = (entry: Kept<V> | undefined, within: number): entry is Kept<V> =>
        entry !== undefined && now - entry.since < within;
      if (!isFresh(kept, maxAge / 2) && !isFresh(coming, maxAge)) start(now);
      // While it is still believed, nobody waits for its successor.
      if (isFresh(kept, maxAge)) return kept.value;
      return (coming ?? start(now)).value;
    },
  };
}
