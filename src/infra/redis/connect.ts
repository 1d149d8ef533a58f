/** Creates connections to Redis. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { startPollLoop, withTimeout } from '../../concurrency/timing';
import type { Logger } from '../logger';
import { outagesOf } from '../outages';
import {
  BlockingCluster,
  ClusterConnection,
  collectFailures,
  nodesSettled,
  type OutageListener,
  reportClusterOutages,
  reportServerOutages,
} from './ioredis';
import { anyServerOf, clusterOptions, reconnectDelay, serverOptions } from './options';
import { parseRedisUrl, type RedisAddress } from './url';

/** A connection to one server, to the primary of a Sentinel group, or to a Cluster. */
export type RedisConnection = Redis | Cluster;

/** Milliseconds after which a command without an answer fails; only for `connectFailFast`. */
const COMMAND_TIMEOUT = 2_000;

/**
 * The process reconnects after this many milliseconds without an answer. Must exceed the longest blocking command of
 * BullMQ (`MAX_WAIT` in `queue/jobs.ts`).
 */
const SILENCE_TIMEOUT = 5_000;
/** Milliseconds between pings of the subscriber. Without pings, SILENCE_TIMEOUT would not affect the subscriber. */
const PING_INTERVAL = 2_000;

const RECONNECT: RedisOptions = {
  connectTimeout: 2_000,
  socketTimeout: SILENCE_TIMEOUT,
  retryStrategy: reconnectDelay,
};

/** Returns a connection whose commands fail immediately while Redis is unavailable. */
export function connectFailFast(url: string, logger: Logger): RedisConnection {
  return connect(parseRedisUrl(url), logger, {
    use: 'commands',
    retriesCommands: false,
    options: {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT,
    },
  });
}

/** @param commands supplies the addresses of further Cluster nodes; absent: only REDIS_URL supplies addresses */
export function connectSubscriber(url: string, logger: Logger, commands?: RedisConnection): Redis {
  const address = parseRedisUrl(url);
  const kind = {
    use: 'subscriber',
    retriesCommands: true,
    options: { maxRetriesPerRequest: null },
  };
  const servers =
    address.form === 'cluster'
      ? anyServerOf(address, () => nodesOf(commands))
      : serverOptions(address);
  const redis = connectServer(servers, logger, kind);
  const pings = startPollLoop(
    () => redis.ping(),
    PING_INTERVAL,
    (error) => logger.debug({ error: String(error) }, 'no answer to the ping of the subscriber'),
  );
  redis.once('end', () => void pings.stop());
  return redis;
}

/** Connects for BullMQ in a worker. BullMQ requires unlimited retries for its blocking commands. */
export function connectBlocking(url: string, logger: Logger): RedisConnection {
  const kind = {
    use: 'partition jobs',
    retriesCommands: true,
    options: { maxRetriesPerRequest: null },
  };
  return runAtMaxmemory(connect(parseRedisUrl(url), logger, kind));
}

/** With this prefix, BullMQ scripts run at `maxmemory`; see `allow_at_maxmemory` in common.lua. */
const AT_MAXMEMORY = `redis.call('DEL', KEYS[1] .. ':nothing') `;

/** Affects only scripts that are defined after this call. */
function runAtMaxmemory(redis: RedisConnection): RedisConnection {
  const define = redis.defineCommand.bind(redis);
  redis.defineCommand = (name, command) =>
    define(name, { ...command, lua: AT_MAXMEMORY + command.lua });
  return redis;
}

export function primariesOf(redis: RedisConnection): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [redis];
}

const nodesOf = (redis: RedisConnection | undefined) =>
  redis instanceof Cluster
    ? redis.nodes().map(({ options: { host = '', port = 0 } }) => ({ host, port }))
    : [];

/** @throws Error if the connection is not ready within `timeout` milliseconds */
export async function redisReady(redis: RedisConnection, timeout = 5_000): Promise<void> {
  const endCollection = collectFailures(redis);
  try {
    await withTimeout(whenReady(redis), timeout, () => {
      redis.disconnect();
      const why = [`no answer within ${timeout} ms`, endCollection()].filter(Boolean).join(': ');
      return new Error(`REDIS_URL cannot be used: ${why}`);
    });
  } finally {
    endCollection();
  }
}

async function whenReady(redis: RedisConnection): Promise<void> {
  if (redis.status !== 'ready') await new Promise<void>((resolve) => redis.once('ready', resolve));
  if (redis instanceof Cluster) await nodesSettled(redis);
}

interface ConnectionKind {
  /** Name of the connection in the log lines of an outage. */
  readonly use: string;
  /** True: commands wait while Redis is unavailable. False: commands fail. */
  readonly retriesCommands: boolean;
  readonly options: RedisOptions;
}

function connect(address: RedisAddress, logger: Logger, kind: ConnectionKind): RedisConnection {
  if (address.form !== 'cluster') return connectServer(serverOptions(address), logger, kind);
  const { use, retriesCommands } = kind;
  const listener = outageListenerOf(use, logger);
  const options = { ...RECONNECT, ...kind.options, reconnectOnError: reconnectIfReplica(listener) };
  const ClusterClass = retriesCommands ? BlockingCluster : ClusterConnection;
  return reportClusterOutages(
    new ClusterClass(...clusterOptions(address, { retriesCommands, options })),
    listener,
  );
}

function connectServer(servers: RedisOptions, logger: Logger, kind: ConnectionKind): Redis {
  const { use, options } = kind;
  const listener = outageListenerOf(use, logger);
  const all = {
    ...RECONNECT,
    ...options,
    ...servers,
    reconnectOnError: reconnectIfReplica(listener),
  };
  return reportServerOutages(new Redis(all), listener);
}

function outageListenerOf(use: string, logger: Logger): OutageListener {
  const outages = outagesOf(logger);
  return {
    lose: (reason) => outages.lost('redis', use, reason),
    back: () => outages.back('redis', use),
  };
}

/** Reconnects after a failover, because a primary that becomes a replica keeps its connections. */
function reconnectIfReplica({ lose }: OutageListener): (error: Error) => boolean {
  return (error) => {
    const isReplica = /(^|-)(READONLY|MASTERDOWN) /.test(error.message);
    if (isReplica) lose(error.message);
    return isReplica;
  };
}
