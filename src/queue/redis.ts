/** Connections to Redis: one kind that fails fast, one for a subscriber, and the one of BullMQ's worker. */
import { type Cluster, Redis, type RedisOptions } from 'ioredis';
import { startPollLoop } from '../concurrency/poll-loop';
import { withTimeout } from '../concurrency/timeout';
import type { Logger } from '../runtime/logger';
import { outagesOf } from '../runtime/outages';

/** One server, a Sentinel group's primary, or all of a Cluster. */
export type RedisConnection = Redis | Cluster;

/** Every command ends by then, whatever the network does; milliseconds. */
const COMMAND_TIMEOUT = 2_000;

/**
 * A connection that owes an answer for this long is made anew: a network may forget a connection
 * without a word to either end, and then only time tells. Longer than any command blocks; milliseconds.
 */
const SILENCE = 5_000;
/** Milliseconds between the questions that a subscriber asks, only for there to be an answer due. */
const ARE_YOU_THERE = 2_000;

const RECONNECT: RedisOptions = {
  connectTimeout: 2_000,
  socketTimeout: SILENCE,
  retryStrategy: (attempt) => Math.min(50 * 2 ** Math.min(attempt, 5), 1_000),
};

/** For commands on the way of a push: rejected at once while Redis is away, never kept for later. */
export function connectFailFast(url: string, logger: Logger): RedisConnection {
  return connect(
    Redis,
    url,
    { use: 'commands', logger },
    {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT,
    },
  );
}

/** For a subscriber: comes back with its subscriptions after an outage. */
export function connectSubscriber(url: string, logger: Logger): RedisConnection {
  const redis = connect(Redis, url, { use: 'subscriber', logger }, { maxRetriesPerRequest: null });
  const asking = startPollLoop(
    () => redis.ping(),
    ARE_YOU_THERE,
    (error) => logger.debug({ error: String(error) }, 'subscriber got no answer'),
  );
  redis.once('end', () => void asking.stop());
  return redis;
}

/**
 * For BullMQ in a worker, which blocks on it and must never see a command given up. Its scripts run
 * at `maxmemory` too: who makes room must not be rejected for want of it.
 */
export function connectBlocking(url: string, logger: Logger): RedisConnection {
  return connect(
    AllowOomRedis,
    url,
    { use: 'partition jobs', logger },
    { maxRetriesPerRequest: null },
  );
}

/**
 * Lua to stand before a script that has to run at `maxmemory`, since it makes room or keeps what does
 * so alive. Redis rejects a script there at the first command that may grow something, but goes on
 * with one that has written already; this is a write, of nothing. The script must have a key, and must
 * not add more than a bounded little. (`flags=allow-oom` does the same, from Redis 7 on.)
 */
export const AT_MAXMEMORY = `redis.call('DEL', KEYS[1] .. ':nothing') `;

class AllowOomRedis extends Redis {
  override defineCommand(...[name, command]: Parameters<Redis['defineCommand']>): void {
    super.defineCommand(name, { ...command, lua: AT_MAXMEMORY + command.lua });
  }
}

/** Whether Redis has rejected a command because it is at `maxmemory`: nothing of it was done then. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /(^|-)OOM /.test(error.message);
}

export function isRedisReady(redis: RedisConnection): boolean {
  return redis.status === 'ready';
}

/** Resolves when the connection is ready. @throws Error naming REDIS_URL after `timeout` ms */
export async function redisReady(redis: RedisConnection, timeout = 5_000): Promise<void> {
  if (isRedisReady(redis)) return;
  const ready = new Promise<void>((resolve) => redis.once('ready', resolve));
  await withTimeout(ready, timeout, () => {
    redis.disconnect();
    return new Error(`REDIS_URL cannot be used: no answer within ${timeout} ms`);
  });
}

const CLOSED = new Error('the connection was closed');

/** Its losses are part of the outages of Redis: one line where one begins, one where it ends. */
function connect(
  Kind: typeof Redis,
  url: string,
  { use, logger }: { readonly use: string; readonly logger: Logger },
  options: RedisOptions,
): Redis {
  const outages = outagesOf(logger);
  const lose = (error: Error) => outages.lost('redis', use, error.message);
  const redis = new Kind(url, {
    ...RECONNECT,
    ...options,
    // A primary that became a replica keeps its connections: who wants to write has to leave by himself.
    // One that has nobody to follow may reject all but a plain write as MASTERDOWN, scripts too.
    reconnectOnError: (error) => {
      const isReplica = /(^|-)(READONLY|MASTERDOWN) /.test(error.message);
      if (isReplica) lose(error);
      return isReplica;
    },
  });
  redis.on('error', lose);
  // A server that dies closes its connections without an error; one that we close is not lost.
  redis.on('reconnecting', () => lose(CLOSED));
  redis.on('ready', () => outages.back('redis', use));
  return redis;
}
