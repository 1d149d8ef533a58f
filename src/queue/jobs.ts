/**
 * A partition job is a BullMQ job that lets one worker own one partition. The job stays active while pushes arrive in
 * the partition.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, type QueueOptions, Worker } from 'bullmq';
import { withTimeout } from '../concurrency/timing';
import { foldedLog } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import type { RedisConnection } from '../infra/redis/connect';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import { PARTITION_JOB_QUEUE, type RedisKeys, shardOf } from './keys';

export interface PartitionJobData {
  readonly partition: number;
}

export type PartitionJobs = ReturnType<typeof createPartitionJobs>;

export function createPartitionJobs(redis: RedisConnection, keys: RedisKeys) {
  const queues = createJobQueues(redis, keys, {
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
  return {
    schedule: async (partitions: readonly number[]): Promise<void> => {
      await Promise.all(
        queues.map(async (queue, shard) => {
          const own = partitions.filter((partition) => shardOf(partition, keys.shards) === shard);
          if (own.length > 0) await queue.addBulk(own.map(toJob));
        }),
      );
    },
    close: async (): Promise<void> => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

const toJob = (partition: number) => ({
  name: 'partition',
  data: { partition },
  opts: { deduplication: { id: `partition-${partition}`, keepLastIfActive: true } },
});

export function createJobQueues(
  redis: RedisConnection,
  keys: RedisKeys,
  options: Partial<QueueOptions> = { skipMetasUpdate: true },
): Queue<PartitionJobData>[] {
  return Array.from({ length: keys.shards }, (_, shard) => {
    const own = { ...options, connection: redis, prefix: keys.bullPrefix(shard) };
    const queue = new Queue<PartitionJobData>(PARTITION_JOB_QUEUE, own);
    // Without a listener, BullMQ prints every reconnection attempt.
    queue.on('error', () => undefined);
    return queue;
  });
}

/** Milliseconds until the lock of a job expires. */
const LOCK_DURATION = 1_500;
/**
 * Milliseconds between two checks for expired locks. LOCK_DURATION + STALLED_INTERVAL must be less than 3 s, because
 * another worker must take over the partitions of a dead worker within 3 s (docs/concepts.md).
 */
const STALLED_INTERVAL = 500;
/** Milliseconds until BullMQ retries after a lost connection. */
const RETRY_DELAY = 1_000;
/** While a worker closes: milliseconds between two pings of Redis. */
const CLOSE_PAUSE = 50;
/** While a worker closes: timeout of a ping of Redis, in milliseconds. */
const PING_TIMEOUT = 500;
/** A closing worker stops waiting for Redis after this many consecutive failed pings. */
const PINGS_WITHOUT_REDIS = 3;
/** Maximum seconds of one wait for a new job. */
const MAX_WAIT = 2;
/** In practice, no limit of active jobs. */
const UNLIMITED = 100_000;

const WORKER_ERROR = { level: 'warn', text: 'queue worker error', dueTo: ['redis'] } as const;
const JOB_FAILED = {
  level: 'warn',
  text: 'partition job failed, the sweep schedules a new job',
  dueTo: ['mongodb', 'redis'],
} as const;
const JOB_RECLAIMED = { level: 'warn', text: 'stalled job reclaimed' } as const;

export interface JobWorkersOptions {
  /** BullMQ requires the option `maxRetriesPerRequest: null`. */
  readonly connection: RedisConnection;
  readonly keys: RedisKeys;
  readonly logger: Logger;
  readonly metrics?: Metrics;
}

/** A BullMQ worker with a faster recovery after a failover or a restart of Redis. */
class PartitionWorker extends Worker<PartitionJobData> {
  /** The last lock of each job in this process, by job id. */
  private readonly lastLocks = new Map<
    string,
    { readonly token: string; readonly since: number }
  >();

  /** A blocking command must end before `SILENCE_TIMEOUT` (infra/redis/connect.ts). */
  override get maximumBlockTimeout(): number {
    return MAX_WAIT;
  }

  /**
   * After an outage of Redis, a job can run twice at once in this process. When the first run ends, BullMQ stops
   * renewing the lock of the job. This method restarts the renewal for the second run.
   */
  override async processJob(...args: Parameters<Worker<PartitionJobData>['processJob']>) {
    const [job, token] = args;
    const id = String(job.id);
    this.lastLocks.set(id, { token, since: job.processedOn ?? Date.now() });
    try {
      return await super.processJob(...args);
    } finally {
      const last = this.lastLocks.get(id);
      if (last?.token === token) this.lastLocks.delete(id);
      else if (last) this.lockManager.trackJob(id, last.token, last.since);
    }
  }
}

/** Processes partition jobs until `close`. */
export class JobWorkers {
  private readonly workers: readonly Worker<PartitionJobData>[];
  /** Number of active jobs of this process, by shard. */
  private readonly activeJobs: number[];

  /** @param take processes a partition; the job ends when the promise settles */
  constructor(
    private readonly options: JobWorkersOptions,
    take: (partition: number) => Promise<void>,
  ) {
    const { keys, connection } = options;
    this.activeJobs = new Array<number>(keys.shards).fill(0);
    this.workers = this.activeJobs.map((_, shard) => {
      const count = (change: number) => {
        this.activeJobs[shard] = (this.activeJobs[shard] ?? 0) + change;
      };
      const run = ({ data: { partition } }: { readonly data: PartitionJobData }) => {
        count(1);
        return take(partition).finally(() => count(-1));
      };
      const worker = new PartitionWorker(PARTITION_JOB_QUEUE, run, {
        connection,
        prefix: keys.bullPrefix(shard),
        concurrency: UNLIMITED,
        lockDuration: LOCK_DURATION,
        stalledInterval: STALLED_INTERVAL,
        // In practice, no limit: a stalled job must always run again.
        maxStalledCount: 1_000_000,
        drainDelay: MAX_WAIT,
        runRetryDelay: RETRY_DELAY,
      });
      report(worker, options);
      return worker;
    });
  }

  /**
   * @param maxJobsOf returns the limit of a shard, at least 1; undefined: no limit
   * @returns the shards whose active jobs reached the previous limit and do not reach the new limit
   */
  limit(maxJobsOf: (shard: number) => number | undefined): number[] {
    return this.workers.flatMap((worker, shard) => {
      const active = this.activeJobs[shard] ?? 0;
      const wasFull = active >= worker.concurrency;
      worker.concurrency = maxJobsOf(shard) ?? UNLIMITED;
      return wasFull && active < worker.concurrency ? [shard] : [];
    });
  }

  /** After the pause, a running fetch can still return a job. */
  async pause(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.pause(true)));
  }

  async resume(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.resume()));
  }

  /**
   * If Redis is unavailable, `close` waits only for running batches, because `Worker.close` of BullMQ then never ends
   * (bullmq issue 4656).
   *
   * @param isBusy whether a batch runs
   * @returns whether all jobs and `others` have ended
   */
  async close(isBusy: () => boolean, others: Promise<void>): Promise<boolean> {
    const closing = [others, ...this.workers.map((worker) => worker.close())];
    let isClosed = false;
    const closed = Promise.all(closing).finally(() => {
      isClosed = true;
    });
    const giveUp = async () => {
      let silent = 0;
      while (!isClosed && silent < PINGS_WITHOUT_REDIS) {
        // A disconnected client queues the ping and reports no error.
        const ping = withTimeout(this.options.connection.ping(), PING_TIMEOUT);
        const isAnswered = await ping.then(Boolean, () => false);
        silent = isAnswered || isBusy() ? 0 : silent + 1;
        if (isAnswered) await sleep(CLOSE_PAUSE);
      }
    };
    await Promise.race([closed, giveUp()]);
    return isClosed;
  }
}

function report(
  worker: Worker<PartitionJobData>,
  { logger, metrics = NO_METRICS }: JobWorkersOptions,
): void {
  const log = foldedLog(logger);
  worker.on('error', (error) => log(WORKER_ERROR, { error: error.message }));
  worker.on('failed', (job, error) => {
    metrics.jobFailed();
    log(JOB_FAILED, { partition: job?.data.partition, error: error.message });
  });
  worker.on('stalled', (jobId) => {
    metrics.jobReclaimed();
    log(JOB_RECLAIMED, { jobId });
  });
}
