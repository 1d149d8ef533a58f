/**
 * The worker's end of the job groups: takes the partitions' jobs and runs their batches until the
 * partitions are empty.
 */
import { type Job, Worker } from 'bullmq';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { NO_METRICS } from '../telemetry/metrics';
import { BatchRunner, type BatchRunnerOptions } from './batch-runner';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
import type { PartitionJobData, PartitionJobs } from './partition-jobs';
import type { RedisConnection } from './redis';

/**
 * A dead worker's job is taken up again after at most lock + check, which is under the 3 s that
 * we promise. BullMQ renews the lock at half its time.
 */
const LOCK_DURATION = 1_500;
const STALLED_INTERVAL = 500;
/** Batches of one job before it makes room for other partitions. */
const MAX_BATCHES_PER_JOB = 20;

/** BullMQ reports each try to reconnect of each of its connections. */
const WORKER_ERROR = { level: 'warn', text: 'queue worker error', dueTo: ['redis'] } as const;
const JOB_FAILED = {
  level: 'warn',
  text: 'partition job failed, will be swept',
  dueTo: ['mongodb', 'redis'],
} as const;
const JOB_RECLAIMED = { level: 'warn', text: 'stalled job reclaimed' } as const;

export interface GroupWorkerOptions extends BatchRunnerOptions {
  /** BullMQ duplicates it for blocking; must have maxRetriesPerRequest null. */
  readonly connection: RedisConnection;
  readonly keys: RedisKeys;
  readonly jobs: PartitionJobs;
  readonly concurrency: number;
  readonly logger: Logger;
}

/** Takes partition jobs from its start until it is closed. */
export class GroupWorker {
  private readonly runner: BatchRunner;
  private readonly worker: Worker<PartitionJobData>;
  /** By partition, the last of its jobs that this process was given. */
  private readonly lastJobs = new Map<number, Promise<void>>();
  private isClosing = false;

  constructor(private readonly options: GroupWorkerOptions) {
    this.runner = new BatchRunner(options);
    this.worker = new Worker(PARTITION_JOB_QUEUE, (job) => this.takeJob(job), {
      connection: options.connection,
      prefix: options.keys.bullPrefix,
      concurrency: options.concurrency,
      lockDuration: LOCK_DURATION,
      stalledInterval: STALLED_INTERVAL,
      maxStalledCount: 1_000_000,
      drainDelay: 2,
    });
    report(this.worker, options);
  }

  /** Batches under way, and the pushes in them. */
  load(): { readonly batches: number; readonly pushes: number } {
    return this.runner.load();
  }

  /** Finishes the partition jobs under way, then lets go of the queue. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.worker.close();
  }

  /** A process that was stopped and continued may be given the job that it is still running. */
  private takeJob({ data: { partition } }: Job<PartitionJobData>): Promise<void> {
    const run = () => this.runJob(partition);
    const job = (this.lastJobs.get(partition) ?? Promise.resolve()).then(run, run);
    this.lastJobs.set(partition, job);
    return job;
  }

  private async runJob(partition: number): Promise<void> {
    for (let count = 0; count < MAX_BATCHES_PER_JOB && !this.isClosing; count += 1) {
      if ((await this.runner.run(partition)) === 0) return;
    }
    // The rest needs another job; while this one is active, BullMQ keeps it for afterwards.
    await this.options.jobs.schedule([partition]);
  }
}

function report(
  worker: Worker<PartitionJobData>,
  { logger, metrics = NO_METRICS }: GroupWorkerOptions,
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
