/** The common start of web and worker: settings, log, lifecycle, and the connections to MongoDB and Redis. */
import { randomBytes } from 'node:crypto';
import type { DestinationStream } from 'pino';
import { startPollLoop, systemClock } from './concurrency/timing';
import { type Config, readConfig, redactConfig } from './infra/config';
import { foldedLog } from './infra/folded-log';
import { announceReady, createLifecycle, exitOnSignals, type Lifecycle } from './infra/lifecycle';
import { createLogOutput, type LogOutput } from './infra/log-output';
import { createLogger, type Logger, processName } from './infra/logger';
import { connectMongo, identifyDatabase } from './infra/mongo';
import { probeMongoWrite, reportMongoOutages } from './infra/mongo-availability';
import { outagesOf } from './infra/outages';
import { connectFailFast, redisReady } from './infra/redis/connect';
import { createRedisTime } from './infra/redis/time';
import { warnOfUnsafeSettings } from './infra/redis/unsafe-settings';
import { startMetrics, startTracing } from './observability/observability';
import type { Tracing } from './observability/tracing';
import { createOperator } from './operator/operator';
import { agreeOnLayout, claimNamespace } from './queue/commands/agreements';
import { createPartitions } from './queue/commands/partitions';
import { createReadWaiting } from './queue/commands/read-waiting';
import { countWorkers } from './queue/commands/worker-number';
import { createHeartbeat } from './queue/heartbeat';
import { createRedisKeys } from './queue/keys';
import { createPauseCheck, probePrimary, probeWrite } from './queue/probe';
import { MAX_WORKERS } from './storage/ledger';
import { createSchemaCheck } from './storage/schema';

export interface ProcessOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Name in logs and heartbeats; by default type, host and pid. */
  readonly name?: string;
  /** Destination of the log; stdout by default. */
  readonly log?: DestinationStream;
  /** If true, the process drains and exits on SIGTERM, on SIGINT, or after the end of its parent process. */
  readonly ownsNode?: boolean;
}

export interface RunningProcess {
  readonly name: string;
  /** URL of a web process; absent for a worker. */
  readonly url?: string;
  /** Drains the process. @returns the exit code */
  stop(): Promise<number>;
}

/** The parts that web and worker share. `id` identifies one run of the process. */
export type ProcessBase = Awaited<ReturnType<typeof createBase>>;

/** Minimum milliseconds between two runs of `redisTimeLoop`. */
const REDIS_TIME_INTERVAL = 20_000;
/** Maximum milliseconds for writing the last log lines at exit. */
const FLUSH_TIMEOUT = 500;

const flushLog = async (output: DestinationStream | LogOutput) =>
  'flush' in output ? output.flush(FLUSH_TIMEOUT) : undefined;

/**
 * @param serve starts the parts of this process type
 * @throws ConfigError, DatabaseSetupError, or another error of the start
 */
export async function startProcess(
  type: 'web' | 'worker',
  options: ProcessOptions,
  serve: (base: ProcessBase) => Promise<{ readonly url?: string }>,
): Promise<RunningProcess> {
  const { env, name = processName(type), ownsNode = false } = options;
  const logOutput = options.log ?? createLogOutput();
  const config = readConfig(env);
  const traces = await startTracing({
    on: config.TRACING === 'on',
    type,
    onProblem: (problem, suppressed) => logger.warn({ problem, suppressed }, 'span export failing'),
  });
  const tracing = traces?.tracing;
  const logger = createLogger(type, config.LOG_LEVEL, {
    fields: tracing?.logFields,
    name,
    to: logOutput,
  });
  logger.info({ config: redactConfig(config) }, 'starting');
  const lifecycle = createLifecycle(logger, config.DRAIN_TIMEOUT);
  if (ownsNode) exitOnSignals(lifecycle, () => flushLog(logOutput));
  if (traces) lifecycle.onStop('traces', traces.stop);
  try {
    const { url } = await serve(
      await createBase({ type, name, config, logger, lifecycle, tracing }),
    );
    if (ownsNode) announceReady({ url });
    return { name, url, stop: () => lifecycle.stop('stop was called') };
  } catch (error) {
    // No `await`, because a slow stop would delay the error message.
    void lifecycle.stop('the start failed');
    throw error;
  }
}

interface BaseOptions {
  readonly type: 'web' | 'worker';
  readonly name: string;
  readonly config: Config;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly tracing: Tracing | undefined;
}

async function createBase({ type, name, config, logger, lifecycle, tracing }: BaseOptions) {
  const mongo = await connectMongo(config.MONGO_URL, undefined, tracing !== undefined);
  lifecycle.onStop('database', () => mongo.close());
  reportMongoOutages(mongo, outagesOf(logger));
  tracing?.traceCommands(mongo.getClient());
  const redis = connectFailFast(config.REDIS_URL, logger);
  await redisReady(redis);
  lifecycle.onStop('redis', () => redis.disconnect());
  await warnOfUnsafeSettings(redis, config.REDIS_URL, logger);
  const namespace = config.REDIS_NAMESPACE;
  const keys = createRedisKeys(namespace, config.REDIS_SHARDS, config.REDIS_PARTITIONS);
  await agreeOnLayout(redis, keys, namespace);
  const identify = () => identifyDatabase(mongo);
  const claim = await claimNamespace({ redis, keys, logger, namespace, identify });
  lifecycle.run('namespace claim', claim);
  const schema = lifecycle.run('index check', await createSchemaCheck(mongo, logger));
  const queuePause = lifecycle.run('queue pause check', createPauseCheck(redis, keys, logger));
  const redisTime = createRedisTime(redis);
  await redisTime.now();
  const redisTimeLoop = startPollLoop(redisTime.now, REDIS_TIME_INTERVAL, (error) =>
    logger.debug({ error: String(error) }, 'could not read the Redis time, retrying'),
  );
  lifecycle.run('Redis time', redisTimeLoop);
  const limits = { pushes: config.PARTITION_LIMIT, bytes: config.PARTITION_BYTES };
  const partitions = createPartitions(redis, keys, limits, redisTime);
  const id = randomBytes(6).toString('hex');
  const heartbeat = createHeartbeat({ type, name, id, redis, keys, logger, lifecycle });
  const { PORTAL_TIME_ZONE: timeZone, OPERATOR_TOKEN: token } = config;
  const hasPort = config.METRICS_PORT !== 0;
  const operator = createOperator({ name, mongo, redis, keys, logger, timeZone, hasPort, token });
  lifecycle.onStop('operator page', operator.close);
  const { metrics, url, close } = await startMetrics({
    type,
    host: config.METRICS_HOST,
    port: config.METRICS_PORT,
    operatorPage: operator,
    log: foldedLog(logger),
    servers: {
      pingDatabase: async () => {
        schema.check();
        await probeMongoWrite(mongo);
      },
      pingQueue: () => probeWrite(redis, keys),
      pingPrimary: () => probePrimary(redis, keys),
      partitions: createReadWaiting(redis, keys),
      workers: () => countWorkers(redis, keys, MAX_WORKERS),
    },
    clock: systemClock,
    redisTime: redisTime.now,
  });
  lifecycle.onStop('metrics', close);
  if (url) logger.info({ url }, 'metrics listening');
  const connected = { mongo, schema, redis, keys, queuePause, partitions, redisTime };
  return { name, config, logger, lifecycle, tracing, id, heartbeat, metrics, ...connected };
}
