/** A value that is loaded on demand and cached for a short time. Concurrent callers of `get` share one load. */
import type { Clock } from '../../concurrency/timing';

interface Load<V> {
  readonly value: Promise<V>;
  /** Start of the load, by the clock of the cache. */
  readonly since: number;
}

export interface TtlCache<V> {
  get(): Promise<V>;
  /** Starts a load and returns its value. Too frequent calls do the same as `get`. */
  getFresh(): Promise<V>;
}

/** Maximum loads that `getFresh` starts without a pause. Afterwards it may start one load after each pause. */
const BURST = 5;
/**
 * The pause between loads is this multiple of the duration of the last load, but at least SHORTEST_PAUSE and at most
 * LONGEST_PAUSE. One slow load does not predict the next one, so the pause has a maximum. `get` renews a value at the
 * earliest half a pause after the start of its load, so that loads take at most about a fifth of the time.
 */
const PAUSE_FACTOR = 10;
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;

/**
 * After half of the lifetime of a value, the next `get` starts the load of a new value and returns the old one. `get`
 * starts no load while another one runs, unless the running load has taken longer than `ttl`.
 *
 * @param load reads the value. If it fails, callers that wait for it get its error, and the cache keeps the old value
 * @param ttl minimum lifetime of a value in milliseconds from the start of its load; a longer pause extends it
 */
export function createTtlCache<V>(
  load: () => Promise<V>,
  { ttl, clock }: { ttl: number; clock: Clock },
): TtlCache<V> {
  let cached: Load<V> | undefined;
  let running: Load<V> | undefined;
  let pause = SHORTEST_PAUSE;
  /** Number of loads that `getFresh` may start now. */
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
    // While the old value is valid, no caller waits for the new one.
    if (!successor && now - cached.since >= lifetime / 2) void start(now);
    return cached.value;
  };
  const mayLoad = (now: number): boolean => {
    // At least zero, so that a clock that was set back does not reduce the number of allowed loads.
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
