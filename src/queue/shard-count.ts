/**
 * The number of shards, which all processes of a queue must agree on: a key's pushes in two shards would
 * have no order. The first process writes it down; it changes where nothing waits and nobody is alive.
 */
import { createRedisKeys, type RedisKeys } from './keys';
import { AT_MAXMEMORY, type RedisConnection } from './redis';

/** KEYS: the number. ARGV: that of this process. Returns the one that holds. */
const AGREE = `${AT_MAXMEMORY}
redis.call('SETNX', KEYS[1], ARGV[1])
return redis.call('GET', KEYS[1])`;

/** KEYS: the number. ARGV: the one that was found, that of this process. Of two that change it one does. */
const CHANGE = `${AT_MAXMEMORY}
local count = redis.call('GET', KEYS[1])
if not count or count == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
return redis.call('GET', KEYS[1])`;

/** Milliseconds after its last heartbeat for which a process may be alive. */
const SILENT = 9_000;

/**
 * @param namespace REDIS_NAMESPACE
 * @throws Error that names REDIS_SHARDS, where the queue has another number of shards and is in use
 */
export async function agreeOnShards(
  redis: RedisConnection,
  keys: RedisKeys,
  namespace: string,
): Promise<void> {
  const count = Number(await redis.eval(AGREE, 1, keys.shardCount, keys.shards));
  if (count === keys.shards) return;
  if (await isInUse(redis, createRedisKeys(namespace, count))) throw inUse(keys.shards, count);
  const now = Number(await redis.eval(CHANGE, 1, keys.shardCount, count, keys.shards));
  if (now !== keys.shards) throw inUse(keys.shards, now);
}

/**
 * For who pushes beside the processes of the queue: only they may decide on the number.
 *
 * @param namespace REDIS_NAMESPACE
 * @throws Error that names the setting that is not that of the queue
 */
export async function requireShards(
  redis: RedisConnection,
  keys: RedisKeys,
  namespace: string,
): Promise<void> {
  const count = Number(await redis.get(keys.shardCount));
  if (count === keys.shards) return;
  throw new Error(
    count === 0
      ? `Redis has no queue of the namespace ${namespace}: ` +
          'start web and worker first, or set REDIS_NAMESPACE, as the service has it'
      : `REDIS_SHARDS is ${keys.shards}, but the queue has ${count} shards: ` +
          `set REDIS_SHARDS=${count}, as the service has it`,
  );
}

/**
 * For who only looks.
 *
 * @param assumed the number of shards while Redis has none: no process has written it down yet
 */
export async function readQueueKeys(
  redis: RedisConnection,
  namespace: string,
  assumed: number,
): Promise<RedisKeys> {
  const count = Number(await redis.get(createRedisKeys(namespace).shardCount));
  return createRedisKeys(namespace, count || assumed);
}

const inUse = (own: number, count: number): Error =>
  new Error(
    `REDIS_SHARDS is ${own}, but the queue has ${count} shards and is in use: ` +
      `set ${count}, or stop all processes once nothing waits, and start them with ${own}`,
  );

async function isInUse(redis: RedisConnection, keys: RedisKeys): Promise<boolean> {
  const [seconds] = await redis.time();
  const since = Number(seconds) * 1_000 - SILENT;
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const found = await Promise.all([
    redis.zcount(keys.processHeartbeats, since, '+inf'),
    ...shards.map((shard) => redis.exists(keys.partitionBytes(shard))),
  ]);
  return found.some((count) => count > 0);
}
