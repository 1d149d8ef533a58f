/** The worker's side of the queue: takes partition jobs, and applies the pushes of the partitions in batches. */
import type { Redis } from 'ioredis';
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import { BatchRunner, type BatchRunnerOptions } from './batch-runner';
import type { ReleaseCondition } from './commands/partitions';
import { TEST_MESSAGE } from './echo';
import { HeldPartition } from './held-partition';
import { JobWorkers, type JobWorkersOptions, type PartitionJobs } from './jobs';
import { shardOf } from './keys';

export { createSharing, startSweep } from './balance';
export { CONCURRENT_BATCHES, type ProcessBatch } from './batch-runner';
export { createPartitionJobs } from './jobs';
export {
  type Batch,
  ownerName,
  ownerText,
  readOwner,
  traceIdsOf,
  type WaitingPush,
} from './records';
export type { Reply } from './replies';

/** A worker releases a partition after this many milliseconds without pushes. */
const LINGER = 3_000;
/** Minimum milliseconds between two checks for idle partitions. */
const RELEASE_EVERY = 500;

export interface GroupWorkerOptions extends BatchRunnerOptions, JobWorkersOptions {
  /** Only for wake-up messages; must restore its subscriptions after an outage. */
  readonly subscriber: Redis;
  readonly jobs: PartitionJobs;
  readonly id: string;
}

export class GroupWorker {
  private readonly runner: BatchRunner;
  private readonly workers: JobWorkers;
  /** The partitions whose jobs are active in this worker. */
  private readonly held = new Map<number, HeldPartition>();
  /** The held partitions, and partitions whose last batch or release failed. */
  private readonly owned = new Set<number>();
  /** By partition: the last job that this process received. */
  private readonly lastJobs = new Map<number, Promise<void>>();
  private readonly releasing: PollLoop;
  private isClosing = false;
  private paused = false;

  constructor(private readonly options: GroupWorkerOptions) {
    const { keys, subscriber, id, logger } = options;
    this.runner = new BatchRunner(options, () => this.held.size);
    subscriber.on('message', (_channel, partitions) => {
      if (partitions !== TEST_MESSAGE) this.notify(partitions.split(' ').map(Number));
    });
    void subscriber.subscribe(keys.wakeUpPrefix + id).catch((error) => {
      logger.debug({ error: String(error) }, 'subscription failed, falling back to sweeping');
    });
    this.workers = new JobWorkers(options, (partition) => this.takeJob(partition));
    this.releasing = startPollLoop(
      () => this.releaseIdle(),
      RELEASE_EVERY,
      (error) =>
        logger.debug({ error: String(error) }, 'release of idle partitions failed, retrying'),
    );
  }

  load(): { readonly batches: number; readonly pushes: number; readonly partitions: number } {
    return { ...this.runner.load(), partitions: this.held.size };
  }

  isPaused(): boolean {
    return this.paused;
  }

  notify(partitions: readonly number[]): void {
    const others = partitions.filter((partition) => !this.held.has(partition));
    for (const partition of partitions) this.held.get(partition)?.notify();
    if (others.length === 0) return;
    this.options.jobs.schedule(others).catch((error) => {
      const line = { error: String(error) };
      this.options.logger.debug(
        line,
        'scheduling partition jobs failed, the sweep will schedule them',
      );
    });
  }

  /**
   * Limits the held partitions, and requests the release of the `count` partitions that have been idle longest.
   *
   * @param max limit of held partitions; undefined: no limit
   */
  adjustShare(count: number, max?: number): void {
    const byIdleness = [...this.held].sort(([, a], [, b]) => b.idleTime() - a.idleTime());
    for (const [, held] of byIdleness.slice(0, count)) held.requestRelease();
    const heldOf = (shard: number) =>
      byIdleness.filter(([partition]) => shardOf(partition, this.options.keys.shards) === shard);
    const maxJobsOf = (shard: number) =>
      max === undefined ? undefined : Math.max(1, heldOf(shard).length + max - this.held.size);
    // BullMQ can ignore a higher limit until a job of the shard ends. Therefore, this worker releases the
    // longest idle partition of the shard.
    for (const shard of this.workers.limit(maxJobsOf)) heldOf(shard)[0]?.[1].requestRelease();
  }

  /** Abandons the running batches, releases all partitions, and takes no partitions until `resume`. */
  async pause(): Promise<void> {
    this.paused = true;
    await this.workers.pause();
    for (const held of this.held.values()) held.requestRelease();
    this.runner.abandon();
    await Promise.allSettled(this.lastJobs.values());
    await this.release([...this.owned], 'FAILED');
  }

  async resume(): Promise<void> {
    this.runner.resume();
    this.paused = false;
    await this.workers.resume();
  }

  /** Finishes the running batches, then releases all partitions if Redis answers. */
  async close(): Promise<void> {
    this.isClosing = true;
    const stopped = this.releasing.stop();
    for (const held of this.held.values()) held.requestRelease();
    const isBusy = () => this.runner.load().batches > 0;
    const isClosed = await this.workers.close(isBusy, stopped);
    if (isClosed) await this.options.partitions.release([...this.owned], this.options.id, 'FAILED');
  }

  /**
   * After an outage of Redis, this worker can receive a second job of a partition while the first job runs. The
   * second job requests the end of the first job, and then starts.
   */
  private takeJob(partition: number): Promise<void> {
    this.held.get(partition)?.requestRelease();
    const run = async () => {
      if (this.lastJobs.get(partition) !== job) return;
      // A paused worker schedules a new job for another worker.
      if (this.paused) await this.options.jobs.schedule([partition]);
      else await this.hold(partition);
    };
    const job = (this.lastJobs.get(partition) ?? Promise.resolve()).then(run, run);
    this.lastJobs.set(partition, job);
    return job.finally(() => {
      if (this.lastJobs.get(partition) === job) this.lastJobs.delete(partition);
    });
  }

  private async hold(partition: number): Promise<void> {
    const held = new HeldPartition(partition);
    if (this.isClosing) held.requestRelease();
    this.held.set(partition, held);
    this.owned.add(partition);
    const end = await held.work(this.runner).finally(() => this.held.delete(partition));
    if (end === 'LOST') this.owned.delete(partition);
    else await this.release([partition], end);
  }

  private async release(partitions: readonly number[], which: ReleaseCondition): Promise<void> {
    if (partitions.length === 0) return;
    const { partitions: all, jobs, id } = this.options;
    const left = await all.release(partitions, id, which);
    const waiting: number[] = [];
    for (const partition of partitions) {
      const pushes = left.get(partition) ?? 0;
      // After an error, the partition stays in `owned`. The sweep schedules a new job if necessary.
      if (pushes instanceof Error) throw pushes;
      this.owned.delete(partition);
      if (pushes > 0) waiting.push(partition);
    }
    if (waiting.length > 0) await jobs.schedule(waiting);
  }

  /**
   * Releases idle partitions without pushes, and owned partitions without a job and without pushes. Starts a batch
   * for an idle partition that has pushes.
   */
  private async releaseIdle(): Promise<void> {
    const { partitions, id, logger } = this.options;
    const idle = [...this.held]
      .filter(([, held]) => held.idleTime() > LINGER)
      .map(([partition]) => partition);
    const failed = [...this.owned].filter((partition) => !this.lastJobs.has(partition));
    if (idle.length + failed.length === 0) return;
    const left = await partitions.release([...idle, ...failed], id, 'IDLE');
    for (const partition of [...idle, ...failed]) {
      const held = this.held.get(partition);
      const pushes = left.get(partition);
      if (pushes instanceof Error)
        logger.debug({ partition, error: String(pushes) }, 'idle partition not released, retrying');
      else if (pushes === undefined) held?.notify();
      else if (held) held.requestRelease();
      else if (!this.lastJobs.has(partition)) this.owned.delete(partition);
    }
  }
}
