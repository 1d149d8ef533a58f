/** A value that is loaded on demand and cached for a short time; concurrent callers share one load. */
import type { Clock } from '../../concurrency/clock';

interface Kept<V> {
  readonly value: Promise<V>;
  /** Begin of its load. */
  readonly since: number;
}

export interface TtlCache<V> {
  get(): Promise<V>;
  /** A value whose load begins now; where that is asked for too often, the newest that there is. */
  getAnew(): Promise<V>;
}

/** So many loads may be asked for at once; after them, one in each pause. */
const BURST = 5;
/** Milliseconds of the shortest pause. */
const SHORTEST_PAUSE = 100;
/**
 * A pause as a multiple of what the last load took. With the loads that come of themselves in half of a pause, a fifth
 * of the time at most is spent on loading.
 */
const PAUSE = 10;
/** Milliseconds: one read that was held up says nothing of the next. */
const LONGEST_PAUSE = 5_000;

/**
 * Half of its time before a value ends, who asks next starts the load of its successor, and waits
 * for it only where it is not there in time. One load runs at a time. Exceptions: a stuck load does not hold up the
 * next one, and `getAnew` starts one of its own.
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
  const burst = createBurst();
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
  const slowPause = () => Math.min(PAUSE * took, LONGEST_PAUSE);
  const get = (now: number): Promise<V> => {
    const within = Math.max(ttl, slowPause());
    const isFresh = (entry: Kept<V> | undefined, age: number): entry is Kept<V> =>
      entry !== undefined && now - entry.since < age;
    const successor = isFresh(coming, ttl) ? coming : undefined;
    // While it is still cached, no caller waits for its successor.
    if (isFresh(kept, within)) {
      if (!successor && !isFresh(kept, within / 2)) start(now);
      return kept.value;
    }
    return (successor ?? start(now)).value;
  };
  return {
    get: () => get(clock()),
    getAnew: () => {
      const now = clock();
      if (coming?.since === now) return coming.value;
      const mayLoad = burst(now, Math.max(SHORTEST_PAUSE, slowPause()));
      return mayLoad ? start(now).value : get(now);
    },
  };
}

/** @returns whether one more may begin now; one of the burst comes back with each pause */
function createBurst(): (now: number, pause: number) => boolean {
  let left = BURST;
  let at = Number.NEGATIVE_INFINITY;
  return (now, pause) => {
    // A clock that was set back gives nothing, and takes nothing.
    left = Math.min(BURST, left + Math.max(0, now - at) / pause);
    at = now;
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
