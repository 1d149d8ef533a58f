/** A value that is loaded on demand and cached for a short time; concurrent callers share one load. */
import type { Clock } from '../../concurrency/clock';

interface Kept<V> {
  readonly value: Promise<V>;
  /** Begin of its load. */
  readonly since: number;
}

export interface TtlCache<V> {
  /** @param maxAge milliseconds, where the value must be younger than usual */
  get(maxAge?: number): Promise<V>;
}

/** Of its time, so much at most is spent on loading, however young values must be: a tenth. */
const PAUSE = 10;
/** Milliseconds by which that may lengthen the time: one read that was held up says nothing of the next. */
const LONGEST_PAUSE = 5_000;

/**
 * Half of its time before a value ends, who asks next starts the load of its successor, and waits
 * for it only where it is not there in time. There is one load at a time, but for one that is stuck.
 *
 * @param load reads the value; a failed load is not kept
 * @param ttl how long a value is cached, in milliseconds from the begin of its load: a load that
 *   is stuck is not waited for by those who ask later
 */
export function createTtlCache<V>(
  load: () => Promise<V>,
  { ttl, clock }: { ttl: number; clock: Clock },
): TtlCache<V> {
  let kept: Kept<V> | undefined;
  let coming: Kept<V> | undefined;
  let took = 0;
  const start = (now: number): Kept<V> => {
    const entry = { value: load(), since: now };
    coming = entry;
    const end = (isGood: boolean) => {
      if (coming === entry) coming = undefined;
      if (!isGood || (kept && kept.since > now)) return;
      kept = entry;
      took = clock() - now;
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
      const within = Math.max(maxAge, Math.min(PAUSE * took, LONGEST_PAUSE));
      const isFresh = (entry: Kept<V> | undefined, age: number): entry is Kept<V> =>
        entry !== undefined && now - entry.since < age;
      const successor = isFresh(coming, ttl) ? coming : undefined;
      // While it is still cached, no caller waits for its successor.
      if (isFresh(kept, within)) {
        if (!successor && !isFresh(kept, within / 2)) start(now);
        return kept.value;
      }
      return (successor ?? start(now)).value;
    },
  };
}
