/**
 * What time it is for Redis, by whose clock deadlines are kept. It is known before a command is
 * sent: the command may be held up on the way, and must not be given that time as a present.
 */
import type { RedisConnection } from './redis';

export interface RedisTime {
  /** Epoch milliseconds, never later than it really is. @throws where Redis does not answer */
  now(): Promise<number>;
  /** Learns from a time that an answer has brought. */
  note(stamp: number): void;
  /**
   * How far it is ahead of another clock (below zero: behind it), by what was learned last, however
   * long ago; milliseconds. 0 where nothing was learned yet, and for clocks that are kept together.
   */
  aheadOf(clock: () => number): number;
}

/** Milliseconds for which an answer's time is counted on from; clocks do not run alike for ever. */
const VALID_FOR = 60_000;
/** Milliseconds: clocks that are kept together differ by less, as does an answer that was long on its way. */
const TOGETHER = 5_000;

/** @param monotonic milliseconds of this process' own clock that never jumps */
export function createRedisTime(
  redis: Pick<RedisConnection, 'time'>,
  monotonic: () => number,
): RedisTime {
  let known: { stamp: number; at: number } | undefined;
  const counted = (at: number): number | undefined =>
    known && at - known.at < VALID_FOR ? known.stamp + at - known.at : undefined;
  const note = (stamp: number) => {
    const at = monotonic();
    // The answer that was the shortest time on its way is the nearest to the truth.
    if (stamp > (counted(at) ?? Number.NEGATIVE_INFINITY)) known = { stamp, at };
  };
  return {
    now: async () => {
      const now = counted(monotonic());
      if (now !== undefined) return now;
      const [seconds, microseconds] = await redis.time();
      note(Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000));
      return counted(monotonic()) ?? 0;
    },
    note,
    aheadOf: (clock) => {
      if (!known) return 0;
      const ahead = Math.round(known.stamp + monotonic() - known.at - clock());
      return Math.abs(ahead) < TOGETHER ? 0 : ahead;
    },
  };
}
