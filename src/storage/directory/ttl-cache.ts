/** Caches one value for a short time. */
import type { Clock } from '../../concurrency/timing';

interface Load<V> {
  readonly value: Promise<V>;
  /** Start of the load, epoch milliseconds. */
  readonly since: number;
}

export interface TtlCache<V> {
  get(): Promise<V>;
  /** Loads the value again. If calls are too frequent, `getFresh` does the same as `get`. */
  getFresh(): Promise<V>;
}

/** Maximum number of loads that `getFresh` starts in quick succession. */
const BURST = 5;
/**
 * After a burst, `getFresh` starts one load per pause. A pause is PAUSE_FACTOR times as long as the last load, but at
 * least SHORTEST_PAUSE and at most LONGEST_PAUSE milliseconds.
 */
const PAUSE_FACTOR = 10;
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;

/**
 * After half of the lifetime of a value, the next `get` starts a load in the background and returns the old value.
 *
 * @param load loads the value. If a load fails, the cache keeps the old value until the end of the lifetime
 * @param ttl minimum lifetime of a value, in milliseconds
 */
export function createTtlCache<V>(
  load: () => Promise<V>,
  { ttl, clock }: { ttl: number; clock: Clock },
): TtlCache<V> {
  let cached: Load<V> | undefined;
  let running: Load<V> | undefined;
  let pause = SHORTEST_PAUSE;
  let allowed = BURST;
  let allowedAt = Number.NEGATIVE_INFINITY;

  const start = (since: number): Promise<V> => {
    const started = { value: load(), since };
    running = started;
    const end = () => {
      if (running === started) running = undefined;
    };
    const succeed = () => {
      end();
      if (cached && cached.since > since) return;
      cached = started;
      pause = Math.min(Math.max(PAUSE_FACTOR * (clock() - since), SHORTEST_PAUSE), LONGEST_PAUSE);
    };
    started.value.then(succeed, end);
    return started.value;
  };
  const get = (now: number): Promise<V> => {
    const lifetime = Math.max(ttl, pause);
    const successor = running && now - running.since < ttl ? running : undefined;
    if (!cached || now - cached.since >= lifetime) return successor?.value ?? start(now);
    if (!successor && now - cached.since >= lifetime / 2) void start(now);
    return cached.value;
  };
  const mayLoad = (now: number): boolean => {
    // If the clock was set back, the elapsed time counts as zero.
    allowed = Math.min(BURST, allowed + Math.max(0, now - allowedAt) / pause);
    allowedAt = now;
    if (allowed < 1) return false;
    allowed -= 1;
    return true;
  };
  return {
    get: () => get(clock()),
    getFresh: () => {
      const now = clock();
      if (running?.since === now) return running.value;
      return mayLoad(now) ? start(now) : get(now);
    },
  };
}
