/** The lanes: ordered lists of waiting pushes in Redis, and the commands that work on them. */
import type { Redis } from 'ioredis';
import { groupOf, LANES, laneOf } from '../domain/group';
import type { RedisKeys } from './keys';
import { decodeItem, encodePush, headOf, type QueuedPush, type WaitingPush } from './push';
import { createRedisTime, type RedisTime } from './redis-time';

/** What a turn read from the head of its lane. */
export interface LaneRead {
  readonly lane: number;
  readonly holder: string;
  /**
   * Earlier holders that read this lane and never finished: they died, or lost their lock and may
   * still be at work. Whatever they have open must be ended before this turn commits.
   */
  readonly displaced: readonly string[];
  /** Redis time, epoch milliseconds: the clock that the deadlines were written by. */
  readonly now: number;
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
   * Reads from the head, until 4 MiB are reached. Nothing is removed.
   *
   * @param holder names who will commit what was read
   * @param most pushes, at most and by default 500
   */
  read(lane: number, holder: string, most?: number): Promise<LaneRead>;
  /**
   * Replies, and only then trims what was read, in one step. A turn whose lane has moved on without
   * it (it lost its lock) trims nothing.
   *
   * @returns how many pushes the lane still holds
   */
  finish(read: LaneRead, replies: readonly ReplyMessage[]): Promise<number>;
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

/** KEYS: lane, holders. ARGV: most items, most bytes, lane number, holder, most displaced. */
const READ = `
local time = redis.call('TIME')
local items, bytes, from = {}, 0, 0
while #items < tonumber(ARGV[1]) and bytes < tonumber(ARGV[2]) do
  local last = math.min(from + 31, tonumber(ARGV[1]) - 1)
  local chunk = redis.call('LRANGE', KEYS[1], from, last)
  if #chunk == 0 then break end
  for _, item in ipairs(chunk) do
    items[#items + 1] = item
    bytes = bytes + #item
  end
  from = from + 32
end
-- The holder in front, then those that it displaced, until a turn finishes.
local displaced = {}
for other in string.gmatch(redis.call('HGET', KEYS[2], ARGV[3]) or '', '%S+') do
  if other ~= ARGV[4] and #displaced < tonumber(ARGV[5]) then displaced[#displaced + 1] = other end
end
if #items > 0 then
  redis.call('HSET', KEYS[2], ARGV[3], ARGV[4] .. ' ' .. table.concat(displaced, ' '))
end
return {time[1] * 1000 + math.floor(time[2] / 1000), displaced, items}`;

/**
 * KEYS: lane, holders. ARGV: how many were read, head of the first one, lane number, holder, then
 * channel and message of each reply.
 */
const FINISH = `
for i = 5, #ARGV, 2 do
  redis.call('PUBLISH', ARGV[i], ARGV[i + 1])
end
local first = redis.call('LINDEX', KEYS[1], 0)
if first and string.sub(first, 1, #ARGV[2]) == ARGV[2] then
  redis.call('LTRIM', KEYS[1], ARGV[1], -1)
end
local holder = redis.call('HGET', KEYS[2], ARGV[3]) or ''
if string.match(holder, '^%S*') == ARGV[4] then redis.call('HDEL', KEYS[2], ARGV[3]) end
return redis.call('LLEN', KEYS[1])`;

/** Pushes of one turn. */
export const MAX_READ = 500;
/** Holders that can die on one lane, one after the other, before the oldest is forgotten. */
const MAX_DISPLACED = 20;
const MAX_READ_BYTES = 4 * 1024 * 1024;

interface LaneCommands {
  appendToLanes(keys: number, ...args: (string | number)[]): Promise<[number[], number[], number]>;
  readLane(...args: (string | number)[]): Promise<[number, string[], string[]]>;
  finishTurn(...args: (string | number)[]): Promise<number>;
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
  redis.defineCommand('readLane', { lua: READ, numberOfKeys: 2 });
  redis.defineCommand('finishTurn', { lua: FINISH, numberOfKeys: 2 });
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
    read: async (lane, holder, most = MAX_READ) => {
      const [now, displaced, items] = await commands.readLane(
        keys.lane(lane),
        keys.holders,
        most,
        MAX_READ_BYTES,
        lane,
        holder,
        MAX_DISPLACED,
      );
      return { lane, holder, now, displaced, pushes: items.map(decodeItem) };
    },
    finish: ({ lane, holder, pushes }, replies) => {
      const first = pushes[0];
      const head = first ? headOf(first) : '';
      return commands.finishTurn(
        keys.lane(lane),
        keys.holders,
        pushes.length,
        head,
        lane,
        holder,
        ...replies.flatMap(({ ingressId, payload }) => [keys.replies(ingressId), payload]),
      );
    },
    waiting: async () => {
      const all = Array.from({ length: LANES }, (_, lane) => lane);
      const lengths = await redis.pipeline(all.map((lane) => ['llen', keys.lane(lane)])).exec();
      return all.filter((lane) => Number(lengths?.[lane]?.[1] ?? 0) > 0);
    },
  };
}
