/** The time of the Redis clock. Deadlines of pushes are times of this clock. */
export interface RedisTime {
  /** Epoch milliseconds. @throws the connection's error if Redis does not answer */
  now(): Promise<number>;
  /** Makes the time more exact. @param stamp Redis time from an answer of Redis, epoch milliseconds */
  note(stamp: number): void;
  /** Redis time minus the time of `clock`, in milliseconds; 0 if the difference is small or unknown. */
  aheadOf(clock?: () => number): number;
}

/** After this many milliseconds, `now` and `note` ignore the last timestamp of Redis, because clocks drift. */
const MAX_EXTRAPOLATION = 60_000;
/** `aheadOf` ignores differences below this many milliseconds. */
const SYNCHRONIZED = 5_000;

/** @param monotonic a monotonic clock in milliseconds */
export function createRedisTime(
  redis: { time(): Promise<readonly (number | string)[]> },
  monotonic = () => performance.now(),
): RedisTime {
  let known: { stamp: number; at: number } | undefined;
  const extrapolated = (at: number): number | undefined =>
    known && at - known.at < MAX_EXTRAPOLATION ? known.stamp + at - known.at : undefined;
  const note = (stamp: number) => {
    const at = monotonic();
    // Each timestamp arrives late and is too low. The timestamp that gives the highest time is most exact.
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
