/**
 * The time of the Redis clock, which decides whether the deadline of a push has passed. `web` computes the deadline
 * before `web` appends the push to the queue, so that a slow connection to Redis does not extend the deadline.
 */
export interface RedisTime {
  /** Epoch milliseconds. @throws the connection's error if Redis does not answer */
  now(): Promise<number>;
  /** Corrects the time. @param stamp timestamp from an answer of Redis, epoch milliseconds */
  note(stamp: number): void;
  /** Milliseconds by which the Redis clock is ahead of `clock`; negative if behind; 0 if synchronized or unknown. */
  aheadOf(clock?: () => number): number;
}

/** Maximum milliseconds for which `now` extrapolates one timestamp, because clocks drift. */
const MAX_EXTRAPOLATION = 60_000;
/**
 * Milliseconds below which a difference of the clocks is ignored: a slow answer of Redis alone can cause a difference
 * of a few seconds.
 */
const SYNCHRONIZED = 5_000;

/** @param monotonic milliseconds of a monotonic clock */
export function createRedisTime(
  redis: { time(): Promise<readonly (number | string)[]> },
  monotonic = () => performance.now(),
): RedisTime {
  let known: { stamp: number; at: number } | undefined;
  const extrapolated = (at: number): number | undefined =>
    known && at - known.at < MAX_EXTRAPOLATION ? known.stamp + at - known.at : undefined;
  const note = (stamp: number) => {
    const at = monotonic();
    // Network delay makes every timestamp too old. If `stamp` is later than the extrapolated time, `stamp` had the
    // shorter delay and is more exact.
    if (stamp > (extrapolated(at) ?? Number.NEGATIVE_INFINITY)) known = { stamp, at };
  };
  return {
    now: async () => {
      const now = extrapolated(monotonic());
      if (now !== undefined) return now;
      const [seconds, microseconds] = await redis.time();
      note(Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000));
      return extrapolated(monotonic()) ?? 0;
    },
    note,
    aheadOf: (clock = Date.now) => {
      if (!known) return 0;
      const ahead = Math.round(known.stamp + monotonic() - known.at - clock());
      return Math.abs(ahead) < SYNCHRONIZED ? 0 : ahead;
    },
  };
}
