/**
 * The time of Redis. The Redis clock decides whether the deadline of a push has passed. `web` reads this time and
 * computes the deadline before sending the push to Redis, so a slow network does not extend the deadline.
 */
export interface RedisTime {
  /** Epoch milliseconds, never ahead of the Redis clock. @throws the connection's error if Redis does not answer */
  now(): Promise<number>;
  /** Corrects the time. @param stamp timestamp from an answer of Redis, epoch milliseconds */
  note(stamp: number): void;
  /**
   * Milliseconds by which the Redis clock is ahead of `clock`, computed from a timestamp of Redis; negative if the
   * Redis clock is behind. 0 if there is no timestamp yet, or if the clocks are synchronized.
   */
  aheadOf(clock?: () => number): number;
}

/**
 * Milliseconds for which one timestamp of Redis is used to compute the time. After a longer period, the computed time
 * would be inaccurate, because clocks drift.
 */
const MAX_EXTRAPOLATION = 60_000;
/**
 * Milliseconds. Clocks with a smaller difference count as synchronized, because a slow answer of Redis alone can cause
 * a difference of a few seconds.
 */
const SYNCHRONIZED = 5_000;

/** @param monotonic returns the milliseconds of the monotonic clock of this process */
export function createRedisTime(
  redis: { time(): Promise<readonly (number | string)[]> },
  monotonic = () => performance.now(),
): RedisTime {
  let known: { stamp: number; at: number } | undefined;
  const extrapolated = (at: number): number | undefined =>
    known && at - known.at < MAX_EXTRAPOLATION ? known.stamp + at - known.at : undefined;
  const note = (stamp: number) => {
    const at = monotonic();
    // The delay in the network makes each timestamp too old. If `stamp` is later than the time that is
    // computed from the known timestamp, `stamp` had a shorter delay and replaces the known timestamp.
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
