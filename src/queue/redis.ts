/** Connections to Redis: one kind that fails fast, one for a subscriber, and the one of BullMQ's worker. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { startPollLoop } from '../concurrency/poll-loop';
import { withTimeout } from '../concurrency/timeout';
import type { Logger } from '../runtime/logger';
import { outagesOf } from '../runtime/outages';
import { parseRedisUrl, type RedisAddress } from '../runtime/redis-url';
import { BlockingCluster } from './blocking-cluster';
import { anyServerOf, backoff, clusterOptions, serverOptions } from './redis-form';
import { collectFailures, nodesTried, type Watch, watchCluster, watchServer } from './redis-watch';

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
  retryStrategy: backoff,
};

/** For commands on the way of a push: rejected at once while Redis is away, never kept for later. */
export function connectFailFast(url: string, logger: Logger): RedisConnection {
  return connect(parseRedisUrl(url), logger, {
    use: 'commands',
    isPatient: false,
    options: {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT,
    },
  });
}

/**
 * For a subscriber: comes back with its subscriptions after an outage. Of a Cluster, to one node.
 *
 * @param commands another connection of this process: it knows nodes that REDIS_URL does not name
 */
export function connectSubscriber(url: string, logger: Logger, commands?: RedisConnection): Redis {
  const address = parseRedisUrl(url);
  const kind = { use: 'subscriber', isPatient: true, options: { maxRetriesPerRequest: null } };
  const servers =
    address.form === 'cluster'
      ? anyServerOf(address, () => nodesOf(commands))
      : serverOptions(address);
  const redis = connectServer(servers, logger, kind);
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
  const kind = { use: 'partition jobs', isPatient: true, options: { maxRetriesPerRequest: null } };
  return runAtMaxmemory(connect(parseRedisUrl(url), logger, kind));
}

/**
 * Lua to stand before a script that has to run at `maxmemory`, since it makes room or keeps what does
 * so alive. Redis rejects a script there at the first command that may grow something, but goes on
 * with one that has written already; this is a write, of nothing. The script must have a key, and must
 * not add more than a bounded little. (`flags=allow-oom` does the same, from Redis 7 on.)
 */
export const AT_MAXMEMORY = `redis.call('DEL', KEYS[1] .. ':nothing') `;

/** Of the scripts that are defined from now on. */
function runAtMaxmemory(redis: RedisConnection): RedisConnection {
  const define = redis.defineCommand.bind(redis);
  redis.defineCommand = (name, command) =>
    define(name, { ...command, lua: AT_MAXMEMORY + command.lua });
  return redis;
}

/** Whether Redis has rejected a command because it is at `maxmemory`: nothing of it was done then. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /(^|-)OOM /.test(error.message);
}

/** The servers that hold the data: of a Cluster its primaries, else the one that there is. */
export function primariesOf(redis: RedisConnection): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

const nodesOf = (redis: RedisConnection | undefined) =>
  redis instanceof Cluster
    ? redis.nodes().map(({ options: { host = '', port = 0 } }) => ({ host, port }))
    : [];

export function isRedisReady(redis: RedisConnection): boolean {
  return redis.status === 'ready';
}

/**
 * Resolves when the connection is ready.
 *
 * @throws Error naming REDIS_URL and what went wrong last, after `timeout` ms
 */
export async function redisReady(redis: RedisConnection, timeout = 5_000): Promise<void> {
  const failure = collectFailures(redis);
  try {
    await withTimeout(comeReady(redis), timeout, () => {
      redis.disconnect();
      const why = [`no answer within ${timeout} ms`, failure()].filter(Boolean).join(': ');
      return new Error(`REDIS_URL cannot be used: ${why}`);
    });
  } finally {
    failure();
  }
}

async function comeReady(redis: RedisConnection): Promise<void> {
  if (!isRedisReady(redis)) await new Promise<void>((resolve) => redis.once('ready', resolve));
  if (redis instanceof Cluster) await nodesTried(redis);
}

interface ConnectionKind {
  readonly use: string;
  /** Whether commands wait for Redis to come back. */
  readonly isPatient: boolean;
  readonly options: RedisOptions;
}

/** @throws Error naming REDIS_URL where it names a file that cannot be read */
function connect(address: RedisAddress, logger: Logger, kind: ConnectionKind): RedisConnection {
  if (address.form !== 'cluster') return connectServer(serverOptions(address), logger, kind);
  const { use, isPatient } = kind;
  const watch = watchOf(use, logger);
  const options = { ...RECONNECT, ...kind.options, reconnectOnError: leaveReplica(watch) };
  const Kind = isPatient ? BlockingCluster : Cluster;
  return watchCluster(new Kind(...clusterOptions(address, { isPatient, options })), watch);
}

function connectServer(servers: RedisOptions, logger: Logger, kind: ConnectionKind): Redis {
  const { use, options } = kind;
  const watch = watchOf(use, logger);
  const all = { ...RECONNECT, ...options, ...servers, reconnectOnError: leaveReplica(watch) };
  return watchServer(new Redis(all), watch);
}

/** Its losses are part of the outages of Redis: one line where one begins, one where it ends. */
function watchOf(use: string, logger: Logger): Watch {
  const outages = outagesOf(logger);
  return {
    lose: (reason) => outages.lost('redis', use, reason),
    back: () => outages.back('redis', use),
  };
}

/**
 * A primary that became a replica keeps its connections: who wants to write has to leave by himself.
 * One that has nobody to follow may reject all but a plain write as MASTERDOWN, scripts too.
 */
function leaveReplica({ lose }: Watch): (error: Error) => boolean {
  return (error) => {
    const isReplica = /(^|-)(READONLY|MASTERDOWN) /.test(error.message);
    if (isReplica) lose(error.message);
    return isReplica;
  };
}
