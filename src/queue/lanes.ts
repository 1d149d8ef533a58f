/** The lanes: ordered lists of waiting pushes in Redis, and the commands that work on them. */
import type { Redis } from 'ioredis';
import { groupOf, LANES, laneOf } from '../domain/group';
import type { RedisKeys } from './keys';
import { APPEND, FINISH, READ } from './lane-scripts';
import { decodeItem, encodePush, headOf, type QueuedPush, type WaitingPush } from './push';
import type { RedisTime } from './redis-time';

/** What one round read from the heads of its lanes: it is applied together. */
export interface Round {
  readonly holder: string;
  /**
   * Earlier holders that read one of the lanes and never finished: they died, or lost their lock and
   * may still be at work. Whatever they have open must be ended before this round commits.
   */
  readonly displaced: readonly string[];
  /** Redis time, epoch milliseconds: the clock that the deadlines were written by. */
  readonly now: number;
  readonly heads: readonly LaneHead[];
}

/** The first pushes of a lane, in their order. */
export interface LaneHead {
  readonly lane: number;
  readonly pushes: readonly WaitingPush[];
  /** As Redis holds them. */
  readonly bytes: number;
}

/** What one lane may hold. */
export interface LaneLimits {
  /** LANE_LIMIT */
  readonly pushes: number;
  /** LANE_BYTES; a push that is larger is taken by an empty lane. */
  readonly bytes: number;
}

/** What became of a push that was to be appended: in its lane, or rejected by one of its limits. */
export type Appended = 'APPENDED' | 'LANE_FULL' | 'LANE_BYTES_FULL';

/** One message to one web process. */
export interface ReplyMessage {
  readonly ingressId: string;
  readonly payload: string;
}

/** A push with the time that its caller has left to wait. */
export interface TimedPush {
  readonly push: QueuedPush;
  /** Milliseconds from now after which it must not be applied any more. */
  readonly timeout: number;
}

export interface Lanes {
  /**
   * Appends pushes, each to the end of its lane.
   *
   * @returns what became of each, and the lanes that were empty before and therefore need a turn
   * @throws the connection's error; where that is `isOutOfMemory`, none was appended
   */
  append(pushes: readonly TimedPush[]): Promise<{ appended: Appended[]; toWake: number[] }>;
  /**
   * Reads from the heads, until 4 MiB are reached; each lane has an equal share. Nothing is removed.
   *
   * @param holder names who will commit what was read
   * @param most pushes of all lanes together (but one of each at least), at most and by default 256
   */
  read(lanes: readonly number[], holder: string, most?: number): Promise<Round>;
  /**
   * Replies, and only then trims what was read, in one step. Of a lane that no longer begins with what
   * the round read (its turn lost its lock, or a failover lost its end) nothing is trimmed: what is still
   * there is read again, and found settled.
   *
   * @returns how many pushes each lane still holds
   */
  finish(round: Round, replies: readonly ReplyMessage[]): Promise<number[]>;
  /** The lanes that hold pushes. */
  waiting(): Promise<number[]>;
}

/** Pushes of one round. More would save little, and where the database is slow all of them wait for its end. */
export const MAX_READ = 256;
/** Holders that can die on one lane, one after the other, before the oldest is forgotten. */
const MAX_DISPLACED = 20;
const MAX_READ_BYTES = 4 * 1024 * 1024;

interface LaneCommands {
  appendToLanes(keys: number, ...args: (string | number)[]): Promise<[number[], number[], number]>;
  readLanes(
    keys: number,
    ...args: (string | number)[]
  ): Promise<[number, string[], string[][], number[]]>;
  finishRound(keys: number, ...args: (string | number)[]): Promise<number[]>;
}

/** By what the script says of each push. */
const APPENDED: readonly Appended[] = ['APPENDED', 'LANE_FULL', 'LANE_BYTES_FULL'];

/**
 * @param time of Redis, which learns from every append
 */
export function createLanes(
  redis: Redis,
  keys: RedisKeys,
  limits: LaneLimits,
  time: RedisTime,
): Lanes {
  redis.defineCommand('appendToLanes', { lua: APPEND });
  redis.defineCommand('readLanes', { lua: READ });
  redis.defineCommand('finishRound', { lua: FINISH });
  const commands = redis as unknown as LaneCommands;
  return {
    append: async (pushes) => {
      const lanes = pushes.map(({ push }) => laneOf(groupOf(push.systemCode, push.externalId)));
      const distinct = [...new Set(lanes)];
      const indexes = new Map(distinct.map((lane, index) => [lane, index + 1]));
      const asked = performance.now();
      const start = (await time.now()) - (performance.now() - asked);
      const [appended, wake, now] = await commands.appendToLanes(
        1 + distinct.length,
        keys.laneBytes,
        ...distinct.map(keys.lane),
        limits.pushes,
        limits.bytes,
        ...distinct,
        ...pushes.flatMap(({ push, timeout }, i) => [
          indexes.get(lanes[i] ?? 0) ?? 0,
          Math.floor(start + Math.max(0, timeout)),
          encodePush(push),
        ]),
      );
      time.note(now);
      return {
        appended: appended.map((how) => APPENDED[how] ?? 'LANE_FULL'),
        toWake: distinct.filter((_, index) => wake[index] === 1),
      };
    },
    read: async (lanes, holder, most = MAX_READ) => {
      const share = (whole: number) => Math.max(1, Math.floor(whole / lanes.length));
      const [now, displaced, heads, sizes] = await commands.readLanes(
        1 + lanes.length,
        keys.holders,
        ...lanes.map(keys.lane),
        share(most),
        share(MAX_READ_BYTES),
        holder,
        MAX_DISPLACED,
        ...lanes,
      );
      return {
        holder,
        displaced: [...new Set(displaced)],
        now,
        heads: lanes.map((lane, n) => ({
          lane,
          pushes: (heads[n] ?? []).map(decodeItem),
          bytes: sizes[n] ?? 0,
        })),
      };
    },
    finish: ({ holder, heads }, replies) =>
      commands.finishRound(
        2 + heads.length,
        keys.holders,
        keys.laneBytes,
        ...heads.map(({ lane }) => keys.lane(lane)),
        holder,
        ...heads.flatMap(({ lane, pushes, bytes }) => {
          const last = pushes.at(-1);
          return [lane, pushes.length, bytes, last ? headOf(last) : ''];
        }),
        ...replies.flatMap(({ ingressId, payload }) => [keys.replies(ingressId), payload]),
      ),
    waiting: async () => {
      const all = Array.from({ length: LANES }, (_, lane) => lane);
      const lengths = await redis.pipeline(all.map((lane) => ['llen', keys.lane(lane)])).exec();
      return all.filter((lane) => Number(lengths?.[lane]?.[1] ?? 0) > 0);
    },
  };
}
