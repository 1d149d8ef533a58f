/** Composition root of the worker process: processes partition jobs, sweeps partitions, expires lost pushes. */
import { systemClock as clock } from '../src/concurrency/timing';
import { runMain } from '../src/infra/lifecycle';
import { pingMongo } from '../src/infra/mongo-availability';
import { connectBlocking, connectSubscriber } from '../src/infra/redis/connect';
import {
  type ProcessBase,
  type ProcessOptions,
  type RunningProcess,
  startProcess,
} from '../src/process';
import { leaseWorkerNumber, type WorkerNumber } from '../src/queue/commands/worker-number';
import { createWorkerReach } from '../src/queue/commands/worker-reach';
import {
  CONCURRENT_BATCHES,
  createPartitionJobs,
  createSharing,
  GroupWorker,
  ownerText,
  type ProcessBatch,
  startSweep,
} from '../src/queue/consumer';
import { createEchoCheck } from '../src/queue/echo';
import { createUserDirectory } from '../src/storage/directory';
import { createLedger, createSnowflakes, MAX_WORKERS } from '../src/storage/ledger';
import {
  createExpireLost,
  createFinalize,
  createLogLookups,
  createPushLog,
  type Settlement,
} from '../src/storage/push-log';
import { SessionPool } from '../src/storage/sessions';
import { createCutOffPings } from './cut-off';
import { startExpiry } from './expire-lost';
import { createProcessBatch } from './process-batch';

const SESSIONS = Array.from({ length: CONCURRENT_BATCHES }, (_, index) => index);

/** @throws the errors of `startProcess` */
export const startWorker = (options: ProcessOptions): Promise<RunningProcess> =>
  startProcess('worker', options, createWorker);

async function createWorker(base: ProcessBase): Promise<object> {
  const { config, logger, lifecycle, redis, keys, partitions, metrics, id, heartbeat } = base;
  await base.schema.untilPrepared();
  const blocking = connectBlocking(config.REDIS_URL, logger);
  lifecycle.onStop('partition job connection', () => blocking.disconnect());
  const subscriber = connectSubscriber(config.REDIS_URL, logger, redis);
  lifecycle.onStop('subscriber', () => subscriber.disconnect());
  const jobs = createPartitionJobs(blocking, keys);
  lifecycle.onStop('partition jobs', () => jobs.close());
  const workerNumber = await leaseWorkerNumber(redis, keys, { max: MAX_WORKERS, logger });
  lifecycle.run('worker number', workerNumber);
  const workerName = base.name;
  const sessions = new SessionPool(base.mongo, logger, workerName);
  lifecycle.onStop('session pool', () => sessions.end());
  const expiry = startExpiry({
    expireLost: createExpireLost(base.mongo),
    queueTime: base.redisTime.now,
    clock,
    workerName,
    timeout: Math.max(config.PUSH_TIMEOUT, config.BATCH_TIMEOUT),
    logger,
  });
  // The expiry must stop after the worker. Stop steps run in reverse order of registration.
  lifecycle.run('expiry', expiry);
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
    processBatch: processBatchOf(base, { workerNumber, sessions, onDone: () => noteAnswer() }),
    onAbandoned: (index) => sessions.replace(index),
    batchLimit: config.BATCH_LIMIT,
    logger,
    metrics,
  });
  lifecycle.onDrain('partition jobs under way', () => worker.close());
  const channel = keys.wakeUpPrefix + id;
  lifecycle.run('echo', createEchoCheck({ redis, subscriber, keys, channel, logger }));
  const sharing = createSharing(worker, id);
  heartbeat.start(() => {
    const { partitions: owned, pushes } = worker.load();
    return { work: { partitions: owned, pushes } };
  }, sharing);
  lifecycle.onStop('sharing of partitions', async () => {
    sharing.leave();
    // This heartbeat lets other workers take over the partitions immediately.
    await heartbeat.beat().catch(() => undefined);
  });
  const reach = createWorkerReach(redis, keys, id);
  const ping = () => pingMongo(base.mongo);
  const pings = lifecycle.run(
    'pings',
    createCutOffPings(ping, { reach, worker, heartbeat, logger }),
  );
  noteAnswer = pings.noteAnswer;
  const { alive } = sharing;
  const sweep = startSweep({ partitions, worker, shards: keys.shards, id, alive, logger, metrics });
  lifecycle.run('sweep', sweep);
  logger.info('worker ready');
  return {};
}

interface BatchParts {
  readonly workerNumber: WorkerNumber;
  readonly sessions: SessionPool;
  /** Called after each successful batch. */
  readonly onDone: () => void;
}

/** While an index is missing, every batch fails and is retried later. */
function processBatchOf(
  { name: workerName, config, logger, mongo, schema, partitions, metrics, tracing }: ProcessBase,
  { workerNumber, sessions, onDone }: BatchParts,
): ProcessBatch<Settlement> {
  const pushLog = createPushLog(mongo);
  const lookups = createLogLookups(mongo);
  const apply = createProcessBatch({
    ledger: createLedger(mongo),
    pushLog,
    partitions,
    lookups,
    finalize: createFinalize(pushLog, lookups),
    users: createUserDirectory(mongo, clock, tracing),
    sessions,
    clock,
    newMatterId: createSnowflakes(workerNumber.current, clock),
    concluded: new Set(config.CONCLUDED_STATUSES),
    workerName,
    logger,
    metrics,
  });
  return async (batch) => {
    const applyIfPrepared = async () => {
      schema.check();
      return apply(batch);
    };
    const replies = await (tracing ? tracing.batch(batch, applyIfPrepared) : applyIfPrepared());
    onDone();
    return replies;
  };
}

if (require.main === module) runMain(() => startWorker({ env: process.env, ownsNode: true }));
