/** Composition root of the worker: takes partition jobs, sweeps partitions, ends what was lost. */
import { systemClock } from '../src/concurrency/clock';
import { startProcess } from '../src/process';
import { GroupWorker } from '../src/queue/group-worker';
import { ownerText } from '../src/queue/owner';
import { createPartitionJobs } from '../src/queue/partition-jobs';
import { connectBlocking } from '../src/queue/redis';
import { startSweep } from '../src/queue/sweep';
import { leaseWorkerNumber } from '../src/queue/worker-number';
import { announceReady, runMain } from '../src/runtime/lifecycle';
import { processName } from '../src/runtime/process-name';
import { createUserDirectory } from '../src/storage/directory/users';
import { createLedger } from '../src/storage/ledger/matters';
import { createSnowflakes, MAX_WORKERS } from '../src/storage/ledger/snowflake';
import { createExpireLost } from '../src/storage/push-log/expire-lost';
import { createFinalize } from '../src/storage/push-log/finalize';
import { createPushLog } from '../src/storage/push-log/log';
import { createLogLookups } from '../src/storage/push-log/lookups';
import { SessionPool } from '../src/storage/sessions/session-pool';
import { startExpiry } from './expire-lost';
import { createProcessBatch } from './process-batch';

async function main(): Promise<void> {
  const {
    config,
    logger,
    lifecycle,
    mongo,
    redis,
    keys,
    partitions,
    redisTime,
    metrics,
    tracing,
    tellOfItself,
  } = await startProcess('worker');
  const clock = systemClock;
  const blocking = connectBlocking(config.REDIS_URL, logger);
  lifecycle.onStop('partition job connection', () => blocking.disconnect());
  const jobs = createPartitionJobs(blocking, keys);
  lifecycle.onStop('partition jobs', () => jobs.close());
  const number = await leaseWorkerNumber(redis, keys, { max: MAX_WORKERS, logger });
  lifecycle.onStop('worker number', () => number.release());
  const workerName = processName('worker');
  const pushLog = createPushLog(mongo);
  const lookups = createLogLookups(mongo);

  const sessions = new SessionPool(mongo, logger, workerName);
  lifecycle.onStop('session pool', () => sessions.end());

  const processBatch = createProcessBatch({
    ledger: createLedger(mongo),
    pushLog,
    lookups,
    finalize: createFinalize(pushLog, lookups),
    users: createUserDirectory(mongo, clock, tracing),
    sessions,
    clock,
    newMatterId: createSnowflakes(number.current, clock),
    concluded: new Set(config.CONCLUDED_STATUSES),
    workerName,
    logger,
    metrics,
  });
  // Before the partition jobs, so that it ends after them: their drain must not wait for it.
  const expiry = startExpiry({
    expireLost: createExpireLost(mongo),
    queueTime: redisTime.now,
    clock,
    workerName,
    timeout: config.PUSH_TIMEOUT,
    logger,
  });
  lifecycle.onStop('expiry', () => expiry.stop());
  const worker = new GroupWorker({
    connection: blocking,
    keys,
    partitions,
    jobs,
    ownerOf: (index) => ownerText({ session: sessions.idOf(index), name: workerName }),
    processBatch: tracing
      ? (batch) => tracing.batch(batch, () => processBatch(batch))
      : processBatch,
    onTimeout: (index) => sessions.replace(index),
    concurrency: config.WORKER_CONCURRENCY,
    logger,
    metrics,
  });
  lifecycle.onStop('partition jobs under way', () => worker.close());
  const sweep = startSweep(partitions, jobs, logger, metrics);
  lifecycle.onStop('sweep', () => sweep.stop());
  tellOfItself(() => ({ work: { ...worker.load() } }));
  logger.info('worker ready');
  announceReady({ workerName });
}

runMain(main);
