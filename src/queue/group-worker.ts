/**
 * The worker's end of the job groups: takes the partitions' jobs and runs them until the partitions are
 * empty. A worker that has the jobs of several partitions reads two of them in one batch: a batch costs
 * the database and Redis much the same however many pushes it has.
 */
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { createBatcher } from '../concurrency/batcher';
import { PARTITIONS } from '../domain/group';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
import type { PartitionJobData, PartitionJobs } from './partition-jobs';
import { type Batch, MAX_BATCH_SIZE, type Partitions } from './partitions';
import { type Reply, toMessages } from './replies';

/**
 * A dead worker's job is taken up again after at most lock + check, which is under the 3 s that
 * we promise. BullMQ renews the lock at half its time.
 */
const LOCK_DURATION = 1_500;
const STALLED_INTERVAL = 500;
/**
 * Milliseconds of one batch. One that takes longer is given up, as if its worker had died: the next
 * batch ends its open transaction, and its guards fail should it go on after all.
 */
const PROCESSING_TIMEOUT = 8_000;
/** Batches of one job before it makes room for other partitions. */
const MAX_BATCHES_PER_JOB = 20;
/** Batches of a worker at a time: while one waits for its commit, the next one is read and folded. */
const CONCURRENT_BATCHES = 2;
/** With all partitions in one batch, only one batch would ever run at a time under load. */
const MAX_PARTITIONS_PER_BATCH = PARTITIONS / CONCURRENT_BATCHES;

/** BullMQ reports each try to reconnect of each of its connections. */
const WORKER_ERROR = { level: 'warn', text: 'queue worker error', dueTo: ['redis'] } as const;
const JOB_FAILED = {
  level: 'warn',
  text: 'partition job failed, will be swept',
  dueTo: ['mongodb', 'redis'],
} as const;
const JOB_RECLAIMED = { level: 'warn', text: 'stalled job reclaimed' } as const;

/**
 * Applies the pushes of a batch.
 *
 * @returns a reply for each push
 * @throws where the outcome of some is unknown: the partition jobs fail and the partitions are read
 *   again later
 */
export type ProcessBatch<S> = (batch: Batch) => Promise<Reply<S>[]>;

export interface GroupWorkerOptions<S> {
  /** BullMQ duplicates it for blocking; must have maxRetriesPerRequest null. */
  readonly connection: Redis;
  readonly keys: RedisKeys;
  readonly partitions: Partitions;
  readonly jobs: PartitionJobs;
  /** The owner of a batch: see owner.ts. Concurrent batches have different indexes. */
  readonly ownerOf: (index: number) => string;
  readonly processBatch: ProcessBatch<S>;
  /** Called when a batch has timed out: the next batch at this index must not use its session. */
  readonly onTimeout: (index: number) => void;
  readonly concurrency: number;
  /** Milliseconds of one batch; 8,000 where it is not given. */
  readonly processingTimeout?: number;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

export interface GroupWorker {
  /** Batches under way, and the pushes in them. */
  load(): { readonly batches: number; readonly pushes: number };
  /** Finishes the partition jobs under way, then lets go of the queue. */
  close(): Promise<void>;
}

export function createGroupWorker<S>(options: GroupWorkerOptions<S>): GroupWorker {
  const { partitions, jobs, ownerOf, processBatch, onTimeout, logger } = options;
  const { processingTimeout = PROCESSING_TIMEOUT, metrics = NO_METRICS } = options;
  let closing = false;

  /** Pushes that the next batch may have. */
  let batchLimit = MAX_BATCH_SIZE;
  /** Pushes of all batches under way. */
  let pushesUnderWay = 0;

  /** @returns how many pushes each of the partitions still holds */
  const runBatch = async (taken: readonly number[], index: number): Promise<number[]> => {
    const began = performance.now();
    const batch = await partitions.read(taken, ownerOf(index), batchLimit);
    const pushes = batch.records.flatMap(({ pushes }) => pushes);
    if (pushes.length === 0) return taken.map(() => 0);
    const readAt = performance.now();
    metrics.batchBegan(pushes, batch.now);
    pushesUnderWay += pushes.length;
    const replies = await withDeadline(processBatch(batch), processingTimeout, () => {
      onTimeout(index);
      // It may just have been too much for a slow database: the same again would never get done.
      batchLimit = Math.max(1, Math.floor(pushes.length / 2));
    }).finally(() => {
      pushesUnderWay -= pushes.length;
    });
    batchLimit = Math.min(MAX_BATCH_SIZE, 2 * batchLimit);
    const sentAt = Math.round(batch.now + performance.now() - readAt);
    const left = await partitions.acknowledge(batch, toMessages(replies, sentAt));
    metrics.stage('batch', began);
    return left;
  };
  const free = Array.from({ length: CONCURRENT_BATCHES }, (_, index) => index);
  /** Takes partitions. Jobs that are active at the same time share their batches. */
  const batches = createBatcher<number, number>({
    run: async (taken) => {
      const index = Number(free.shift());
      return runBatch(taken, index).finally(() => free.unshift(index));
    },
    maxBatch: MAX_PARTITIONS_PER_BATCH,
    maxRunning: CONCURRENT_BATCHES,
  });

  const runJob = async (partition: number): Promise<void> => {
    for (let count = 0; count < MAX_BATCHES_PER_JOB && !closing; count += 1) {
      if ((await batches.add(partition)) === 0) return;
    }
    // The rest needs another job; while this one is active, BullMQ keeps it for afterwards.
    await jobs.schedule([partition]);
  };

  // A process that was stopped and continued may be given the job that it is still running.
  const underWay = new Map<number, Promise<void>>();
  const takeJob = (partition: number): Promise<void> => {
    const before = underWay.get(partition) ?? Promise.resolve();
    const job = before.then(
      () => runJob(partition),
      () => runJob(partition),
    );
    underWay.set(partition, job);
    return job;
  };

  const worker = new Worker<PartitionJobData>(
    PARTITION_JOB_QUEUE,
    (job) => takeJob(job.data.partition),
    {
      connection: options.connection,
      prefix: options.keys.bullPrefix,
      concurrency: options.concurrency,
      lockDuration: LOCK_DURATION,
      stalledInterval: STALLED_INTERVAL,
      maxStalledCount: 1_000_000,
      drainDelay: 2,
    },
  );
  const tell = foldedLog(logger);
  worker.on('error', (error) => tell(WORKER_ERROR, { error: error.message }));
  worker.on('failed', (job, error) => {
    metrics.jobFailed();
    tell(JOB_FAILED, { partition: job?.data.partition, error: error.message });
  });
  worker.on('stalled', (jobId) => {
    metrics.jobReclaimed();
    tell(JOB_RECLAIMED, { jobId });
  });
  return {
    load: () => ({ batches: CONCURRENT_BATCHES - free.length, pushes: pushesUnderWay }),
    close: async () => {
      closing = true;
      await worker.close();
    },
  };
}

/** Processing a batch took too long. */
class ProcessingTimeout extends Error {
  override readonly name = 'ProcessingTimeout';
}

/** @throws ProcessingTimeout after `timeout` milliseconds; the outcome of `work` is ignored then */
function withDeadline<T>(work: Promise<T>, timeout: number, onTimeout: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onTimeout();
      reject(new ProcessingTimeout(`no end after ${timeout} ms`));
    }, timeout);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
