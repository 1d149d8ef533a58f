/**
 * The heartbeat of a process: its record in Redis, written anew every few seconds in one command. That of
 * a process that died stays for a while, and its age tells; one that ends takes its own with it.
 */
import { randomBytes } from 'node:crypto';
import { startPollLoop } from '../../concurrency/poll-loop';
import type { RedisKeys } from '../../queue/keys';
import { AT_MAXMEMORY, type RedisConnection } from '../../queue/redis';
import type { Logger } from '../../runtime/logger';
import type { ProcessRecord } from './record';

/** Milliseconds between two heartbeats, lengthened by up to half at random. */
export const HEARTBEAT_INTERVAL = 2_000;
/** Milliseconds after its last heartbeat for which a process is remembered. */
const FORGET = 600_000;
/** Processes that are remembered: of more, the longest silent ones are forgotten first. */
const MAX_PROCESSES = 500;

/**
 * KEYS: records and last heartbeats, by process; the number of shards. ARGV: id, record, milliseconds after which
 * others are forgotten, most of them, shards of this process. A record begins with the time of its heartbeat, Redis
 * time. Returns the number of shards that holds: Redis may have lost it, and a process that starts goes by it.
 */
const WRITE = `${AT_MAXMEMORY}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %s', now, ARGV[2]))
redis.call('ZADD', KEYS[2], string.format('%.0f', now), ARGV[1])
local function forget(ids)
  for _, id in ipairs(ids) do
    redis.call('HDEL', KEYS[1], id)
    redis.call('ZREM', KEYS[2], id)
  end
end
forget(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - ARGV[3])))
forget(redis.call('ZRANGE', KEYS[2], 0, -1 - tonumber(ARGV[4])))
for n = 1, 2 do redis.call('PEXPIRE', KEYS[n], ARGV[3]) end
redis.call('SETNX', KEYS[3], ARGV[5])
return redis.call('GET', KEYS[3])`;

export interface Heartbeat {
  /** The process is on its way to its end: the last heartbeat, and no more. */
  stop(): Promise<void>;
}

/** @param read what the process is like now */
export function startHeartbeat(
  redis: RedisConnection,
  keys: RedisKeys,
  read: () => ProcessRecord,
  logger: Logger,
): Heartbeat {
  const id = randomBytes(8).toString('hex');
  const { processes, processHeartbeats, shardCount, shards } = keys;
  const heartbeat = async () => {
    const values = [id, JSON.stringify(read()), FORGET, MAX_PROCESSES, shards];
    const agreed = await redis.eval(WRITE, 3, processes, processHeartbeats, shardCount, ...values);
    if (Number(agreed) !== shards)
      logger.error({ shards, agreed }, 'REDIS_SHARDS is not that of the queue');
  };
  const heartbeats = startPollLoop(heartbeat, HEARTBEAT_INTERVAL, (error) => {
    logger.debug({ error: String(error) }, 'heartbeat not written, tried again soon');
  });
  return {
    stop: async () => {
      await heartbeats.stop();
      const left = redis.multi().hdel(processes, id).zrem(processHeartbeats, id).exec();
      // Without Redis its record stays, and is forgotten in time.
      await left.catch(() => undefined);
    },
  };
}
