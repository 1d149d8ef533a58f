/**
 * Which workers reach the database, as each of them reports it in Redis: a worker that does not reach it asks here
 * whether another one does.
 */
import type { RedisKeys } from './keys';
import { AT_MAXMEMORY, type RedisConnection } from './redis';

/** KEYS: reach. ARGV: id of the worker, milliseconds for which the database has answered all of its pings. */
const REPORT = `${AT_MAXMEMORY}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], (now - ARGV[2]) .. ' ' .. now)
return 1`;

/**
 * KEYS: reach, heartbeats of the workers that take partitions. ARGV: id of the worker, milliseconds for which another
 * one must have reached the database, and within which it must have reported it. Forgets what this worker reported, in
 * the same step: if two workers ask at the same time, at most one of them gets 1 because of the other.
 * Returns 1 if there is another one.
 */
const FIND_OTHER = `${AT_MAXMEMORY}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HDEL', KEYS[1], ARGV[1])
local found = 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local since, at = string.match(all[i + 1], '^(%d+) (%d+)$')
  if not redis.call('ZSCORE', KEYS[2], all[i]) then
    redis.call('HDEL', KEYS[1], all[i])
  elseif now - since >= tonumber(ARGV[2]) and now - at <= tonumber(ARGV[3]) then
    found = 1
  end
end
return found`;

interface Commands {
  reportReach(keyCount: number, ...args: (string | number)[]): Promise<number>;
  findOtherReach(keyCount: number, ...args: (string | number)[]): Promise<number>;
}

export interface WorkerReach {
  /** @param answeredFor milliseconds for which the database has answered all pings of this worker */
  report(answeredFor: number): Promise<void>;
  /**
   * Whether another worker that takes partitions reaches the database. What this worker has reported is forgotten.
   *
   * @param atLeastFor milliseconds for which it must have reached it without a break
   * @param within milliseconds within which the database must have answered it
   * @throws the connection's error
   */
  isReachedByOther(atLeastFor: number, within: number): Promise<boolean>;
}

/** @param id of the worker, of one run of a process */
export function createWorkerReach(
  redis: RedisConnection,
  keys: RedisKeys,
  id: string,
): WorkerReach {
  redis.defineCommand('reportReach', { lua: REPORT });
  redis.defineCommand('findOtherReach', { lua: FIND_OTHER });
  const commands = redis as unknown as Commands;
  return {
    report: async (answeredFor) => {
      await commands.reportReach(1, keys.workerReach, id, Math.round(answeredFor));
    },
    isReachedByOther: async (atLeastFor, within) => {
      const names = [keys.workerReach, keys.workerHeartbeats];
      const times = [Math.round(atLeastFor), Math.round(within)];
      return (await commands.findOtherReach(2, ...names, id, ...times)) === 1;
    },
  };
}
