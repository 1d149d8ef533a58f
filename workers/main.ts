/** Composition root of the worker: takes partition jobs, sweeps partitions, ends what was lost. */
import { randomBytes } from 'node:crypto';
import { systemClock } from '../src/concurrency/clock';
import type { PollLoop } from '../src/concurrency/poll-loop';
import {
  type Process,
  type ProcessOptions,
  type RunningProcess,
  startProcess,
} from '../src/process';
import { CONCURRENT_BATCHES, type ProcessBatch } from '../src/queue/batch-runner';
import { GroupWorker } from '../src/queue/group-worker';
import { startSharing } from '../src/queue/live-workers';
import { ownerText } from '../src/queue/owner';
import { createPartitionJobs } from '../src/queue/partition-jobs';
import { watchEcho } from '../src/queue/probe';
import { connectBlocking, connectSubscriber } from '../src/queue/redis';
import { startSweep } from '../src/queue/sweep';
import { leaseWorkerNumber, type WorkerNumber } from '../src/queue/worker-number';
import { createWorkerReach } from '../src/queue/worker-reach';
import { runMain } from '../src/runtime/lifecycle';
import { createUserDirectory } from '../src/storage/directory/users';
import { createLedger } from '../src/storage/ledger/matters';
import { createSnowflakes, MAX_WORKERS } from '../src/storage/ledger/snowflake';
import { pingMongo } from '../src/storage/mongo';
import { createExpireLost } from '../src/storage/push-log/expire-lost';
import { createFinalize } from '../src/storage/push-log/finalize';
import { createPushLog } from '../src/storage/push-log/log';
import { createLogLookups } from '../src/storage/push-log/lookups';
import type { Settlement } from '../src/storage/push-log/settlement';
import { SessionPool } from '../src/storage/sessions/session-pool';
import { watchCutOff } from './cut-off';
import { startExpiry } from './expire-lost';
import { createProcessBatch } from './process-batch';

/** The indexes of the sessions in which its batches commit. */
const SESSIONS = Array.from({ length: CONCURRENT_BATCHES }, (_, index) => index);

/** Starts a worker. @throws as `startProcess` */
export const startWorker = (options: ProcessOptions): Promise<RunningProcess> =>
  startProcess('worker', options, openWorker);

async function openWorker(base: Process): Promise<object> {
  const { config, logger, lifecycle, redis, keys, partitions, metrics, tellOfItself } = base;
  await base.schema.untilPrepared();
  const blocking = connectBlocking(config.REDIS_URL, logger);
  lifecycle.onStop('partition job connection', () => blocking.disconnect());
  const subscriber = connectSubscriber(config.REDIS_URL, logger, redis);
  lifecycle.onStop('subscriber', () => subscriber.disconnect());
  const jobs = createPartitionJobs(blocking, keys);
  lifecycle.onStop('partition jobs', () => jobs.close());
  const number = await leaseWorkerNumber(redis, keys, { max: MAX_WORKERS, logger });
  lifecycle.onStop('worker number', () => number.release());
  const workerName = base.name;
  const sessions = new SessionPool(base.mongo, logger, workerName);
  lifecycle.onStop('session pool', () => sessions.end());
  // Before the partition jobs, so that it ends after them: their drain must not wait for it.
  const expiry = startExpiryOf(base, workerName);
  lifecycle.onStop('expiry', () => expiry.stop());
  const id = randomBytes(6).toString('hex');
  let noteAnswer = () => {};
  const worker = new GroupWorker({
    connection: blocking,
    subscriber,
    keys,
    id,
    partitions,
    jobs,
    owner: () => ownerText({ id, sessions: SESSIONS.map(sessions.idOf), name: workerName }),
    sessionOf: sessions.idOf,
    processBatch: processBatchOf(base, { number, sessions, workerName, done: () => noteAnswer() }),
    onGivenUp: (index) => sessions.replace(index),
    batchLimit: config.BATCH_LIMIT,
    logger,
    metrics,
  });
  lifecycle.onDrain('partition jobs under way', () => worker.close());
  const echo = watchEcho({ redis, subscriber, keys, channel: keys.rings + id, logger });
  lifecycle.onStop('echo', () => echo.stop());
  const sharing = startSharing({ redis, keys, partitions, worker, id, logger });
  lifecycle.onStop('sharing of partitions', () => sharing.stop());
  const reach = createWorkerReach(redis, keys, id);
  const ping = () => pingMongo(base.mongo);
  const pings = watchCutOff({ ping, reach, worker, sharing, logger });
  lifecycle.onStop('pings', () => pings.stop());
  noteAnswer = pings.noteAnswer;
  const { alive } = sharing;
  const sweep = startSweep({ partitions, worker, shards: keys.shards, id, alive, logger, metrics });
  lifecycle.onStop('sweep', () => sweep.stop());
  tellOfItself(() => {
    const { partitions: held, pushes } = worker.load();
    return { work: { partitions: held, pushes } };
  });
  logger.info('worker ready');
  return {};
}

function startExpiryOf(
  { config, logger, mongo, redisTime }: Process,
  workerName: string,
): PollLoop {
  return startExpiry({
    expireLost: createExpireLost(mongo),
    queueTime: redisTime.now,
    clock: systemClock,
    workerName,
    timeout: Math.max(config.PUSH_TIMEOUT, config.BATCH_TIMEOUT),
    logger,
  });
}

interface Committing {
  readonly number: WorkerNumber;
  readonly sessions: SessionPool;
  readonly workerName: string;
  /** Called after each batch that the database has answered. */
  readonly done: () => void;
}

/** With a span for each batch, where TRACING is on. Without the indexes of the database a batch fails, and is read again. */
function processBatchOf(
  { config, logger, mongo, schema, partitions, metrics, tracing }: Process,
  { number, sessions, workerName, done }: Committing,
): ProcessBatch<Settlement> {
  const pushLog = createPushLog(mongo);
  const lookups = createLogLookups(mongo);
  const apply = createProcessBatch({
    ledger: createLedger(mongo),
    pushLog,
    partitions,
    lookups,
    finalize: createFinalize(pushLog, lookups),
    users: createUserDirectory(mongo, systemClock, tracing),
    sessions,
    clock: systemClock,
    newMatterId: createSnowflakes(number.current, systemClock),
    concluded: new Set(config.CONCLUDED_STATUSES),
    workerName,
    logger,
    metrics,
  });
  const processBatch: typeof apply = async (batch) => {
    schema.check();
    return apply(batch);
  };
  return async (batch) => {
    const process = () => processBatch(batch);
    const replies = await (tracing ? tracing.batch(batch, process) : process());
    done();
    return replies;
  };
}

if (require.main === module) runMain(() => startWorker({ env: process.env, ownsNode: true }));
