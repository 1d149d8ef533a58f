/** What every long-running process starts with: settings, log, lifecycle, and its two servers. */
import type { Connection } from 'mongoose';
import type { DestinationStream } from 'pino';
import { systemClock } from './concurrency/clock';
import { startPollLoop } from './concurrency/poll-loop';
import { startMetrics } from './observability/metrics/start';
import { type OwnRecord, openHeartbeat } from './observability/processes/open-heartbeat';
import { startTracing } from './observability/tracing/start';
import { openOperator } from './operator/open';
import { claimNamespace } from './queue/database-claim';
import { createRedisKeys, type RedisKeys } from './queue/keys';
import { createPartitionStates } from './queue/partition-states';
import { createPartitions, type Partitions } from './queue/partitions';
import { probePrimary, probeWrite } from './queue/probe';
import { type PauseWatch, watchQueuePause } from './queue/queue-pause';
import { connectFailFast, type RedisConnection, redisReady } from './queue/redis';
import { createRedisTime, type RedisTime } from './queue/redis-time';
import { agreeOnShards } from './queue/shard-count';
import { countWorkers } from './queue/worker-number';
import { type Config, readConfig, redactConfig } from './runtime/config';
import { foldedLog } from './runtime/folded-log';
import { announceReady, createLifecycle, exitOnSignals, type Lifecycle } from './runtime/lifecycle';
import { createLogOutput, type LogOutput } from './runtime/log-output';
import { createLogger, type Logger } from './runtime/logger';
import { outagesOf } from './runtime/outages';
import { processName } from './runtime/process-name';
import { MAX_WORKERS } from './storage/ledger/snowflake';
import { connectMongo, identifyDatabase, probeMongoWrite } from './storage/mongo';
import { watchMongo } from './storage/mongo-outages';
import { type SchemaWatch, watchSchema } from './storage/schema';
import type { Metrics } from './telemetry/metrics';
import type { Tracing } from './telemetry/tracing';

/** What a web or worker is started with. */
export interface ProcessOptions {
  /** The settings. */
  readonly env: NodeJS.ProcessEnv;
  /** Its name in logs and heartbeats; by default from host and pid, which several in one Node process share. */
  readonly name?: string;
  /** Destination of the log; stdout by default. */
  readonly log?: DestinationStream;
  /** The Node process belongs to it alone: signals drain it, then the Node process exits. */
  readonly ownsNode?: boolean;
}

/** A web or worker that serves. */
export interface RunningProcess {
  readonly name: string;
  /** The address of a web. */
  readonly url?: string;
  /** Drains. @returns the exit code that a process of its own would have */
  stop(): Promise<number>;
}

export interface Process {
  /** See ProcessOptions. */
  readonly name: string;
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly mongo: Connection;
  /** Whether the release step has prepared the database. */
  readonly schema: SchemaWatch;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  /** Whether the queue is paused with BullMQ. */
  readonly queuePause: PauseWatch;
  readonly partitions: Partitions;
  /** Known, and kept known while the process runs. */
  readonly redisTime: RedisTime;
  readonly metrics: Metrics;
  /** From now on the process tells of itself, until it ends. @param read what is its own to tell */
  readonly tellOfItself: (read: () => OwnRecord) => void;
  /** Undefined where TRACING is off. */
  readonly tracing: Tracing | undefined;
}

/** Milliseconds between two looks at whether the time of Redis is still known well enough. */
const WATCH_TIME = 20_000;

/**
 * Starts what web and worker have in common, then what is their own. A start that fails releases
 * what it had opened.
 * @param serve starts the rest; returns the URL of a web
 * @throws ConfigError, DatabaseSetupError, or an Error naming REDIS_URL, REDIS_SHARDS, REDIS_NAMESPACE or
 *   METRICS_PORT; nothing serves pushes yet then
 */
export async function startProcess(
  type: 'web' | 'worker',
  options: ProcessOptions,
  serve: (base: Process) => Promise<{ readonly url?: string }>,
): Promise<RunningProcess> {
  const { env, name = processName(type), ownsNode = false } = options;
  const output = options.log ?? createLogOutput();
  const config = readConfig(env);
  const traces = await startTracing({
    on: config.TRACING === 'on',
    type,
    trouble: (problem, untold) => logger.warn({ problem, untold }, 'span export failing'),
  });
  const tracing = traces?.tracing;
  const logger = createLogger(type, config.LOG_LEVEL, {
    fields: tracing?.logFields,
    name,
    to: output,
  });
  logger.info({ config: redactConfig(config) }, 'starting');
  const lifecycle = createLifecycle(logger, config.DRAIN_TIMEOUT);
  if (ownsNode) exitOnSignals(lifecycle, () => flushLog(output));
  if (traces) lifecycle.onStop('traces', traces.stop);
  try {
    const { url } = await serve(await openBase(type, { name, config, logger, lifecycle, tracing }));
    if (ownsNode) announceReady({ url });
    return { name, url, stop: () => lifecycle.stop('stopped by its owner') };
  } catch (error) {
    // Not awaited: a server that is away must not delay the message of a failed start.
    void lifecycle.stop('the start failed');
    throw error;
  }
}

/** Milliseconds at the end of a process in which its last log lines are written, if somebody reads them. */
const FLUSH_TIME = 500;

const flushLog = async (output: DestinationStream | LogOutput): Promise<void> => {
  if ('flush' in output) await output.flush(FLUSH_TIME);
};

/** The connections to both servers, and what reads them alone. */
async function openBase(
  type: 'web' | 'worker',
  own: Pick<Process, 'name' | 'config' | 'logger' | 'lifecycle' | 'tracing'>,
): Promise<Process> {
  const { name, config, logger, lifecycle, tracing } = own;
  const mongo = await connectMongo(config.MONGO_URL, undefined, tracing !== undefined);
  lifecycle.onStop('database', () => mongo.close());
  watchMongo(mongo, outagesOf(logger));
  tracing?.watchCommands(mongo.getClient());
  const redis = connectFailFast(config.REDIS_URL, logger);
  await redisReady(redis);
  lifecycle.onStop('redis', () => redis.disconnect());

  const keys = createRedisKeys(config.REDIS_NAMESPACE, config.REDIS_SHARDS);
  await agreeOnShards(redis, keys, config.REDIS_NAMESPACE);
  const claim = await claimNamespace({
    ...{ redis, keys, logger, namespace: config.REDIS_NAMESPACE },
    read: () => identifyDatabase(mongo),
  });
  lifecycle.onStop('claim of the namespace', () => claim.stop());
  const schema = await watchSchema(mongo, logger);
  lifecycle.onStop('watch of the indexes', () => schema.stop());
  const queuePause = watchQueuePause(redis, keys, logger);
  lifecycle.onStop('watch of the pause', () => queuePause.stop());
  const redisTime = createRedisTime(redis, () => performance.now());
  await redisTime.now();
  const watching = startPollLoop(redisTime.now, WATCH_TIME, (error) => {
    logger.debug({ error: String(error) }, 'the time of Redis was not told, asked again soon');
  });
  lifecycle.onStop('time of Redis', () => watching.stop());
  const limits = { pushes: config.PARTITION_LIMIT, bytes: config.PARTITION_BYTES };
  const partitions = createPartitions(redis, keys, limits, redisTime);
  const tellOfItself = openHeartbeat(type, { name, redis, keys, logger, lifecycle });
  const started = { ...own, mongo, schema, redis, keys, queuePause, partitions, redisTime };
  return {
    ...started,
    tellOfItself,
    metrics: await openMetrics(type, started),
  };
}

/** Once the servers are there, and until they are given back: metrics also tell of the drain. */
async function openMetrics(
  type: 'web' | 'worker',
  {
    name,
    config,
    logger,
    lifecycle,
    mongo,
    schema,
    redis,
    keys,
    redisTime,
  }: Omit<Process, 'metrics' | 'tellOfItself'>,
): Promise<Metrics> {
  const operator = openOperator({
    ...{ name, mongo, redis, keys, logger, timeZone: config.PORTAL_TIME_ZONE },
    isKept: config.METRICS_PORT !== 0,
    token: config.OPERATOR_TOKEN,
  });
  lifecycle.onStop("operator's screen", operator.close);
  const { metrics, url, close } = await startMetrics({
    type,
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    beside: operator,
    tell: foldedLog(logger),
    servers: {
      pingDatabase: async () => {
        schema.check();
        await probeMongoWrite(mongo);
      },
      pingQueue: () => probeWrite(redis, keys),
      pingPrimary: () => probePrimary(redis, keys),
      partitions: createPartitionStates(redis, keys),
      workers: () => countWorkers(redis, keys, MAX_WORKERS),
    },
    clock: systemClock,
    redisTime: redisTime.now,
  });
  lifecycle.onStop('metrics', close);
  if (url) logger.info({ url }, 'metrics listening');
  return metrics;
}
