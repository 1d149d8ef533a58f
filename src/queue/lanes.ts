/** The lanes: ordered lists of waiting pushes in Redis, and the commands that work on them. */
import type { Redis } from 'ioredis';
import { groupOf, LANES, laneOf } from '../domain/group';
import type { RedisKeys } from './keys';
import { decodeItem, encodePush, headOf, type QueuedPush, type WaitingPush } from './push';
import { createRedisTime, type RedisTime } from './redis-time';

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
}

/** One message to one ingress. */
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
   * @returns per push whether it was taken (false: the lane is full), and the lanes that were
   *   empty before and therefore need a turn
   */
  append(pushes: readonly TimedPush[]): Promise<{ taken: boolean[]; toWake: number[] }>;
  /**
   * Reads from the heads, until 4 MiB are reached; each lane has an equal share. Nothing is removed.
   *
   * @param holder names who will commit what was read
   * @param most pushes of all lanes together (but one of each at least), at most and by default 256
   */
  read(lanes: readonly number[], holder: string, most?: number): Promise<Round>;
  /**
   * Replies, and only then trims what was read, in one step. Of a lane that has moved on without the
   * round (its turn lost its lock) nothing is trimmed.
   *
   * @returns how many pushes each lane still holds
   */
  finish(round: Round, replies: readonly ReplyMessage[]): Promise<number[]>;
  /** The lanes that hold pushes. */
  waiting(): Promise<number[]>;
}

/** KEYS: the lanes. ARGV: lane limit, then per push lane index, deadline (Redis time) and text. */
const APPEND = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit = tonumber(ARGV[1])
local length, wake, taken = {}, {}, {}
for i, lane in ipairs(KEYS) do
  length[i] = redis.call('LLEN', lane)
  wake[i] = length[i] == 0 and 1 or 0
end
for i = 2, #ARGV, 3 do
  local lane = tonumber(ARGV[i])
  if length[lane] >= limit then
    taken[#taken + 1] = 0
  else
    length[lane] = redis.call('RPUSH', KEYS[lane], string.format('%013d%013d', ARGV[i + 1], now) .. ARGV[i + 2])
    taken[#taken + 1] = 1
  end
end
return {taken, wake, now}`;

/** KEYS: holders, lanes. ARGV: most items and most bytes of a lane, holder, most displaced, lane numbers. */
const READ = `
local time = redis.call('TIME')
local most, mostBytes, holder = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local heads, displaced = {}, {}
for l = 2, #KEYS do
  local items, bytes, from = {}, 0, 0
  while #items < most and bytes < mostBytes do
    local chunk = redis.call('LRANGE', KEYS[l], from, math.min(from + 31, most - 1))
    if #chunk == 0 then break end
    for _, item in ipairs(chunk) do
      items[#items + 1] = item
      bytes = bytes + #item
    end
    from = from + 32
  end
  -- The holder in front, then those that it displaced, until a turn finishes.
  local lane, others = ARGV[3 + l], {}
  for other in string.gmatch(redis.call('HGET', KEYS[1], lane) or '', '%S+') do
    if other ~= holder and #others < tonumber(ARGV[4]) then
      others[#others + 1] = other
      displaced[#displaced + 1] = other
    end
  end
  if #items > 0 then
    redis.call('HSET', KEYS[1], lane, holder .. ' ' .. table.concat(others, ' '))
  end
  heads[#heads + 1] = items
end
return {time[1] * 1000 + math.floor(time[2] / 1000), displaced, heads}`;

/**
 * KEYS: holders, lanes. ARGV: holder, then per lane its number, how many were read and the head of the
 * first one, then channel and message of each reply.
 */
const FINISH = `
local holder, left = ARGV[1], {}
for i = 3 * #KEYS - 1, #ARGV, 2 do
  redis.call('PUBLISH', ARGV[i], ARGV[i + 1])
end
for l = 2, #KEYS do
  local at = 3 * l - 4
  local lane, count, head = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local first = redis.call('LINDEX', KEYS[l], 0)
  if first and string.sub(first, 1, #head) == head then
    redis.call('LTRIM', KEYS[l], count, -1)
  end
  local held = redis.call('HGET', KEYS[1], lane) or ''
  if string.match(held, '^%S*') == holder then redis.call('HDEL', KEYS[1], lane) end
  left[#left + 1] = redis.call('LLEN', KEYS[l])
end
return left`;

/** Pushes of one round. More would save little, and where the database is slow all of them wait for its end. */
export const MAX_READ = 256;
/** Holders that can die on one lane, one after the other, before the oldest is forgotten. */
const MAX_DISPLACED = 20;
const MAX_READ_BYTES = 4 * 1024 * 1024;

interface LaneCommands {
  appendToLanes(keys: number, ...args: (string | number)[]): Promise<[number[], number[], number]>;
  readLanes(keys: number, ...args: (string | number)[]): Promise<[number, string[], string[][]]>;
  finishRound(keys: number, ...args: (string | number)[]): Promise<number[]>;
}

/**
 * @param perLane most pushes that one lane may hold
 * @param time of Redis, which learns from every append
 */
export function createLanes(
  redis: Redis,
  keys: RedisKeys,
  perLane: number,
  time: RedisTime = createRedisTime(redis, () => performance.now()),
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
      const [taken, wake, now] = await commands.appendToLanes(
        distinct.length,
        ...distinct.map(keys.lane),
        perLane,
        ...pushes.flatMap(({ push, timeout }, i) => [
          indexes.get(lanes[i] ?? 0) ?? 0,
          Math.floor(start + Math.max(0, timeout)),
          encodePush(push),
        ]),
      );
      time.note(now);
      return {
        taken: taken.map((one) => one === 1),
        toWake: distinct.filter((_, index) => wake[index] === 1),
      };
    },
    read: async (lanes, holder, most = MAX_READ) => {
      const share = (whole: number) => Math.max(1, Math.floor(whole / lanes.length));
      const [now, displaced, heads] = await commands.readLanes(
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
        heads: lanes.map((lane, n) => ({ lane, pushes: (heads[n] ?? []).map(decodeItem) })),
      };
    },
    finish: ({ holder, heads }, replies) =>
      commands.finishRound(
        1 + heads.length,
        keys.holders,
        ...heads.map(({ lane }) => keys.lane(lane)),
        holder,
        ...heads.flatMap(({ lane, pushes }) => [
          lane,
          pushes.length,
          pushes[0] ? headOf(pushes[0]) : '',
        ]),
        ...replies.flatMap(({ ingressId, payload }) => [keys.replies(ingressId), payload]),
      ),
    waiting: async () => {
      const all = Array.from({ length: LANES }, (_, lane) => lane);
      const lengths = await redis.pipeline(all.map((lane) => ['llen', keys.lane(lane)])).exec();
      return all.filter((lane) => Number(lengths?.[lane]?.[1] ?? 0) > 0);
    },
  };
}
