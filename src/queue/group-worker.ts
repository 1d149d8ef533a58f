/**
 * The worker's end of the job groups: takes the partitions' jobs and holds their partitions while they have
 * traffic, runs batches when it is rung, and lets go of what is idle, or of what other workers should have.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { NO_METRICS } from '../telemetry/metrics';
import { BatchRunner, type BatchRunnerOptions } from './batch-runner';
import { HeldPartition } from './held-partition';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
import type { PartitionJobData, PartitionJobs } from './partition-jobs';
import { shardOf } from './partitioning';
import { CALL } from './probe';
import { isRedisReady, type RedisConnection } from './redis';

/**
 * A dead worker's job is taken up again after at most lock + check, which is under the 3 s that
 * we promise. BullMQ renews the lock at half its time.
 */
const LOCK_DURATION = 1_500;
const STALLED_INTERVAL = 500;
/** Milliseconds after which BullMQ tries again what a lost connection has broken off; 15 s by default. */
const RETRY_DELAY = 1_000;
/** Milliseconds without a push after which a partition is let go: a job costs more than holding on. */
const LINGER = 3_000;
const LOOK_EVERY = 500;
/** Milliseconds between two looks of a worker that closes, and looks in a row without Redis that end its wait. */
const CLOSE_LOOK_EVERY = 50;
const LOOKS_WITHOUT_REDIS = 20;
/** Milliseconds between two looks at a partition whose shard drains older ones. */
const DRAINING_PAUSE = 20;
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

export interface GroupWorkerOptions extends BatchRunnerOptions {
  /** BullMQ duplicates it for blocking; must have maxRetriesPerRequest null. */
  readonly connection: RedisConnection;
  /** Of its own for rings: it comes back with its subscriptions. */
  readonly subscriber: Redis;
  readonly keys: RedisKeys;
  readonly jobs: PartitionJobs;
  /** As in the owner. */
  readonly id: string;
  readonly logger: Logger;
}

/** Takes partition jobs from its start until it is closed. */
export class GroupWorker {
  private readonly runner: BatchRunner;
  /** One for each shard. */
  private readonly workers: readonly Worker<PartitionJobData>[];
  private readonly held = new Map<number, HeldPartition>();
  /** Partitions whose owner it is in Redis: those that it holds, and those whose batch failed. */
  private readonly owned = new Set<number>();
  /** By partition, the last of its jobs that this process was given. */
  private readonly lastJobs = new Map<number, Promise<void>>();
  private readonly lettingGo: PollLoop;
  /** By shard, the jobs that this process was given and that have not ended. */
  private readonly activeJobs: number[];
  private isClosing = false;

  constructor(private readonly options: GroupWorkerOptions) {
    const { keys, connection, subscriber, id, logger } = options;
    this.runner = new BatchRunner(options, () => this.held.size);
    subscriber.on('message', (_channel, partitions) => {
      if (partitions !== CALL) this.ring(partitions.split(' ').map(Number));
    });
    void subscriber.subscribe(keys.rings + id).catch((error) => {
      logger.debug({ error: String(error) }, 'no rings yet, partitions are swept');
    });
    this.activeJobs = Array.from({ length: keys.shards }, () => 0);
    this.workers = Array.from({ length: keys.shards }, (_, shard) => {
      const worker = new Worker<PartitionJobData>(PARTITION_JOB_QUEUE, (job) => this.takeJob(job), {
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
    this.lettingGo = startPollLoop(
      () => Promise.all([this.letGoOfIdle(), this.letGoOfFailed()]),
      LOOK_EVERY,
      (error) => logger.debug({ error: String(error) }, 'idle partitions are held on'),
    );
  }

  /** Batches under way, the pushes in them, and the partitions that are held. */
  load(): { readonly batches: number; readonly pushes: number; readonly partitions: number } {
    return { ...this.runner.load(), partitions: this.held.size };
  }

  /** Has partitions looked at: where they are not held here, by whoever takes their job. */
  ring(partitions: readonly number[]): void {
    const others = partitions.filter((partition) => !this.held.has(partition));
    for (const partition of partitions) this.held.get(partition)?.ring();
    if (others.length > 0) this.schedule(others);
  }

  /**
   * Lets go of some partitions, the idle ones first.
   *
   * @param letGo how many
   * @param most partitions that it holds from now on; undefined: any number
   */
  share(letGo: number, most?: number): void {
    const byIdleness = [...this.held].sort(([, a], [, b]) => b.idle() - a.idle());
    for (const [, one] of byIdleness.slice(0, letGo)) one.letGo();
    const { shards } = this.options.keys;
    this.workers.forEach((worker, shard) => {
      const active = this.activeJobs[shard] ?? 0;
      const wasFull = active >= worker.concurrency;
      worker.concurrency = most === undefined ? UNLIMITED : this.roomIn(shard, most);
      // BullMQ looks for another job only when one of its own ends: each shard's worker for itself.
      if (!wasFull || active >= worker.concurrency) return;
      byIdleness.find(([partition]) => shardOf(partition, shards) === shard)?.[1].letGo();
    });
  }

  /** Jobs of a shard that may be active while this worker holds no more than so many partitions. */
  private roomIn(shard: number, most: number): number {
    const { shards } = this.options.keys;
    const own = [...this.held.keys()].filter((partition) => shardOf(partition, shards) === shard);
    return Math.max(1, own.length + most - this.held.size);
  }

  /** Finishes the batches under way, then lets go of everything. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.lettingGo.stop();
    for (const one of this.held.values()) one.letGo();
    const closed = Promise.all(this.workers.map((worker) => worker.close()));
    await Promise.race([closed, this.untilNothingToFinish(closed)]);
    // Without it their next push would ring a worker that has gone.
    await this.options.partitions.letGo([...this.owned], this.options.id, 'FAILED');
  }

  /**
   * BullMQ's worker does not close while Redis is away (bullmq issue 4656). Without Redis there is nothing to finish
   * once the batches are over: other workers take the jobs when their locks have expired.
   */
  private async untilNothingToFinish(closed: Promise<unknown>): Promise<void> {
    let isClosed = false;
    const close = () => {
      isClosed = true;
    };
    closed.then(close, close);
    for (let looks = 0; looks < LOOKS_WITHOUT_REDIS && !isClosed; ) {
      await sleep(CLOSE_LOOK_EVERY);
      const isAway = !isRedisReady(this.options.connection) && this.runner.load().batches === 0;
      looks = isAway ? looks + 1 : 0;
    }
  }

  /**
   * A process that was stopped and continued, or whose Redis was away, may be given the job of a partition
   * that it still holds, more than once: only the last one holds it.
   */
  private takeJob({ data: { partition } }: Job<PartitionJobData>): Promise<void> {
    this.held.get(partition)?.letGo();
    this.countJobs(partition, 1);
    const run = async () => {
      if (this.lastJobs.get(partition) === job) await this.hold(partition);
    };
    const job = (this.lastJobs.get(partition) ?? Promise.resolve()).then(run, run);
    this.lastJobs.set(partition, job);
    return job.finally(() => {
      this.countJobs(partition, -1);
      if (this.lastJobs.get(partition) === job) this.lastJobs.delete(partition);
    });
  }

  private countJobs(partition: number, change: number): void {
    const shard = shardOf(partition, this.options.keys.shards);
    this.activeJobs[shard] = (this.activeJobs[shard] ?? 0) + change;
  }

  private async hold(partition: number): Promise<void> {
    const held = new HeldPartition();
    if (this.isClosing) held.letGo();
    this.held.set(partition, held);
    this.owned.add(partition);
    const isLost = await this.work(partition, held).finally(() => this.held.delete(partition));
    if (!isLost) await this.letGo(partition);
    this.owned.delete(partition);
  }

  /** Applies what comes, until the partition is let go of. @returns whether another worker has taken it */
  private async work(partition: number, held: HeldPartition): Promise<boolean> {
    let isTaken = true;
    while (!held.isLetGo) {
      const left = await this.runner.run({ partition, isTaken });
      isTaken = false;
      if (left === 'LOST') return true;
      if (left === 'DRAINING') await sleep(DRAINING_PAUSE);
      else if (left === 0) await held.nextRing();
    }
    return false;
  }

  /** What is left in it needs another job; while this one is active, BullMQ keeps it for afterwards. */
  private async letGo(partition: number): Promise<void> {
    const { partitions, jobs, id } = this.options;
    const left = (await partitions.letGo([partition], id, 'ALL')).get(partition) ?? 0;
    // The job fails; the sweep brings the partition back.
    if (left instanceof Error) throw left;
    if (left > 0) await jobs.schedule([partition]);
  }

  private async letGoOfIdle(): Promise<void> {
    const { partitions, id, logger } = this.options;
    const idle = [...this.held].filter(([, one]) => one.idle() > LINGER).map(([number]) => number);
    if (idle.length === 0) return;
    const left = await partitions.letGo(idle, id, 'IDLE');
    for (const partition of idle) {
      const held = this.held.get(partition);
      const pushes = left.get(partition);
      if (pushes instanceof Error)
        logger.debug({ partition, error: String(pushes) }, 'idle partition is held on');
      else if (pushes === undefined) held?.ring();
      else held?.letGo();
    }
  }

  /** Those whose batch failed, or that Redis was not told of: where pushes wait in one, it is swept and taken again. */
  private async letGoOfFailed(): Promise<void> {
    const { partitions, id } = this.options;
    const failed = [...this.owned].filter((partition) => !this.lastJobs.has(partition));
    if (failed.length === 0) return;
    const left = await partitions.letGo(failed, id, 'IDLE');
    for (const partition of failed) {
      const isLetGo = typeof left.get(partition) === 'number';
      if (isLetGo && !this.lastJobs.has(partition)) this.owned.delete(partition);
    }
  }

  private schedule(partitions: readonly number[]): void {
    const { jobs, logger } = this.options;
    jobs.schedule(partitions).catch((error) => {
      logger.debug({ error: String(error) }, 'partitions not scheduled, the sweep will do it');
    });
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
