/** The BullMQ workers of this process, one for each shard: they take partition jobs while there is room for them. */
import { type Job, Worker } from 'bullmq';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
import type { PartitionJobData } from './partition-jobs';
import { shardOf } from './partitioning';
import type { RedisConnection } from './redis';

/**
 * A dead worker's job is taken up again after at most lock + check, which is under the 3 s that
 * we promise. BullMQ renews the lock at half its time.
 */
const LOCK_DURATION = 1_500;
const STALLED_INTERVAL = 500;
/** Milliseconds after which BullMQ tries again what a lost connection has broken off; 15 s by default. */
const RETRY_DELAY = 1_000;
/** Jobs are taken without a bound: what a worker does at a time is bounded by its batches. */
const UNLIMITED = 100_000;

/** BullMQ reports each try to reconnect of each of its connections. */
const WORKER_ERROR = { level: 'warn', text: 'queue worker error', dueTo: ['redis'] } as const;
const JOB_FAILED = {
  level: 'warn',
  text: 'partition job failed, will be swept',
  dueTo: ['mongodb', 'redis'],
} as const;
const JOB_RECLAIMED = { level: 'warn', text: 'stalled job reclaimed' } as const;

export interface JobWorkersOptions {
  /** BullMQ duplicates it for blocking; must have maxRetriesPerRequest null. */
  readonly connection: RedisConnection;
  readonly keys: RedisKeys;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

/** Take jobs from their start until they are closed. */
export class JobWorkers {
  private readonly workers: readonly Worker<PartitionJobData>[];
  /** By shard, the jobs that this process was given and that have not ended. */
  private readonly activeJobs: number[];

  /** @param take works on a partition; its job ends with it */
  constructor(
    private readonly options: JobWorkersOptions,
    private readonly take: (partition: number) => Promise<void>,
  ) {
    const { keys, connection } = options;
    this.activeJobs = Array.from({ length: keys.shards }, () => 0);
    this.workers = this.activeJobs.map((_, shard) => {
      const worker = new Worker<PartitionJobData>(PARTITION_JOB_QUEUE, (job) => this.run(job), {
        connection,
        prefix: keys.bullPrefix(shard),
        concurrency: UNLIMITED,
        lockDuration: LOCK_DURATION,
        stalledInterval: STALLED_INTERVAL,
        maxStalledCount: 1_000_000,
        drainDelay: 2,
        runRetryDelay: RETRY_DELAY,
      });
      report(worker, options);
      return worker;
    });
  }

  /**
   * Bounds the jobs that may be active.
   *
   * @param roomIn by shard, at least 1; undefined: any number
   * @returns shards that had no room and have some now. BullMQ looks for another job only when one of its own
   *   ends, each shard's worker for itself
   */
  limit(roomIn: (shard: number) => number | undefined): number[] {
    return this.workers.flatMap((worker, shard) => {
      const active = this.activeJobs[shard] ?? 0;
      const wasFull = active >= worker.concurrency;
      worker.concurrency = roomIn(shard) ?? UNLIMITED;
      return wasFull && active < worker.concurrency ? [shard] : [];
    });
  }

  /** From now on they ask for no job. Each may still be given the one that it had asked for. */
  async pause(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
  }

  async resume(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.resume()));
  }

  /** Resolves when their last job has ended. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
  }

  private run({ data: { partition } }: Job<PartitionJobData>): Promise<void> {
    this.count(partition, 1);
    return this.take(partition).finally(() => this.count(partition, -1));
  }

  private count(partition: number, change: number): void {
    const shard = shardOf(partition, this.options.keys.shards);
    this.activeJobs[shard] = (this.activeJobs[shard] ?? 0) + change;
  }
}

function report(
  worker: Worker<PartitionJobData>,
  { logger, metrics = NO_METRICS }: JobWorkersOptions,
): void {
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
}
