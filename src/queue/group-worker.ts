/**
 * The worker's end of the job groups: takes the partitions' jobs and holds their partitions while they have
 * traffic, runs batches when it is rung, and lets go of what is idle, or of what other workers should have.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import { withTimeout } from '../concurrency/timeout';
import { BatchAbandoned, BatchRunner, type BatchRunnerOptions } from './batch-runner';
import { HeldPartition } from './held-partition';
import { JobWorkers, type JobWorkersOptions } from './job-workers';
import type { LetGo } from './partition-commands';
import type { PartitionJobs } from './partition-jobs';
import { shardOf } from './partitioning';
import { CALL } from './probe';

/** Milliseconds without a push after which a partition is let go: a job costs more than holding on. */
const LINGER = 3_000;
const LOOK_EVERY = 500;
/** Of a worker that closes: milliseconds between two pings, and for an answer; pings in a row without one that end its wait. */
const CLOSE_PAUSE = 50;
const PING_TIMEOUT = 500;
const PINGS_WITHOUT_REDIS = 3;
/** Milliseconds between two looks at a partition whose shard drains older ones. */
const DRAINING_PAUSE = 20;

export interface GroupWorkerOptions extends BatchRunnerOptions, JobWorkersOptions {
  /** Of its own for rings: it comes back with its subscriptions. */
  readonly subscriber: Redis;
  readonly jobs: PartitionJobs;
  /** As in the owner. */
  readonly id: string;
}

/** Takes partition jobs from its start until it is closed. */
export class GroupWorker {
  private readonly runner: BatchRunner;
  private readonly workers: JobWorkers;
  private readonly held = new Map<number, HeldPartition>();
  /** Partitions whose owner it is in Redis: those that it holds, and those whose batch failed. */
  private readonly owned = new Set<number>();
  /** By partition, the last of its jobs that this process was given. */
  private readonly lastJobs = new Map<number, Promise<void>>();
  private readonly lettingGo: PollLoop;
  private isClosing = false;
  private paused = false;

  constructor(private readonly options: GroupWorkerOptions) {
    const { keys, subscriber, id, logger } = options;
    this.runner = new BatchRunner(options, () => this.held.size);
    subscriber.on('message', (_channel, partitions) => {
      if (partitions !== CALL) this.ring(partitions.split(' ').map(Number));
    });
    void subscriber.subscribe(keys.rings + id).catch((error) => {
      logger.debug({ error: String(error) }, 'no rings yet, partitions are swept');
    });
    this.workers = new JobWorkers(options, (partition) => this.takeJob(partition));
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

  /** Whether it takes no partitions, from `pause` to `resume`. */
  isPaused(): boolean {
    return this.paused;
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
    const roomIn = (shard: number) => (most === undefined ? undefined : this.roomIn(shard, most));
    for (const shard of this.workers.limit(roomIn)) {
      byIdleness.find(([partition]) => shardOf(partition, shards) === shard)?.[1].letGo();
    }
  }

  /** Jobs of a shard that may be active while this worker holds no more than so many partitions. */
  private roomIn(shard: number, most: number): number {
    const { shards } = this.options.keys;
    const own = [...this.held.keys()].filter((partition) => shardOf(partition, shards) === shard);
    return Math.max(1, own.length + most - this.held.size);
  }

  /**
   * Gives up the batches under way and releases all partitions, so that other workers take them at once. Until `resume`
   * it takes none. Where another worker takes a partition of a batch that was given up, it ends that batch's work first.
   */
  async pause(): Promise<void> {
    this.paused = true;
    await this.workers.pause();
    for (const one of this.held.values()) one.letGo();
    this.runner.abandon();
    await Promise.allSettled(this.lastJobs.values());
    await this.release([...this.owned], 'FAILED');
  }

  /** Takes partitions again. */
  async resume(): Promise<void> {
    this.runner.resume();
    this.paused = false;
    await this.workers.resume();
  }

  /** Finishes the batches under way, then lets go of everything. */
  async close(): Promise<void> {
    this.isClosing = true;
    const stopped = this.lettingGo.stop();
    for (const one of this.held.values()) one.letGo();
    const closed = Promise.all([stopped, this.workers.close()]).then(() => true);
    const isClosed = await Promise.race([closed, this.untilNothingToFinish(closed)]);
    // Without it their next push would ring a worker that has gone.
    if (isClosed) await this.options.partitions.letGo([...this.owned], this.options.id, 'FAILED');
  }

  /**
   * BullMQ's worker does not close while Redis is away, or hangs (bullmq issue 4656). Without Redis there is nothing to
   * finish once the batches are over: other workers take the jobs when their locks have expired.
   *
   * @returns false: Redis does not answer; true: `closed` has ended
   */
  private async untilNothingToFinish(closed: Promise<unknown>): Promise<boolean> {
    let isClosed = false;
    const close = () => {
      isClosed = true;
    };
    closed.then(close, close);
    let silent = 0;
    while (!isClosed && silent < PINGS_WITHOUT_REDIS) {
      const answers = await this.isAnswering();
      silent = answers || this.runner.load().batches > 0 ? 0 : silent + 1;
      if (answers) await sleep(CLOSE_PAUSE);
    }
    return isClosed;
  }

  /** A connection that is away keeps the ping for later. */
  private isAnswering(): Promise<boolean> {
    return withTimeout(this.options.connection.ping(), PING_TIMEOUT).then(
      () => true,
      () => false,
    );
  }

  /**
   * A process that was stopped and continued, or whose Redis was away, may be given the job of a partition
   * that it still holds, more than once: only the last one holds it.
   */
  private takeJob(partition: number): Promise<void> {
    this.held.get(partition)?.letGo();
    const run = async () => {
      if (this.lastJobs.get(partition) !== job) return;
      // Another worker is to take it: while this job is active, BullMQ keeps the next one for afterwards.
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
    const held = new HeldPartition();
    if (this.isClosing) held.letGo();
    this.held.set(partition, held);
    this.owned.add(partition);
    const end = await this.work(partition, held).finally(() => this.held.delete(partition));
    if (end === 'LOST') this.owned.delete(partition);
    else await this.release([partition], end);
  }

  /**
   * Applies the pushes of a partition until this worker releases it.
   *
   * @returns `LOST`: another worker has taken it; otherwise which release is due
   */
  private async work(partition: number, held: HeldPartition): Promise<'LOST' | 'ALL' | 'FAILED'> {
    let isTaken = true;
    try {
      while (!held.isLetGo) {
        const left = await this.runner.run({ partition, isTaken });
        isTaken = false;
        if (left === 'LOST') return 'LOST';
        if (left === 'DRAINING') await sleep(DRAINING_PAUSE);
        else if (left === 0) await held.nextRing();
      }
      return 'ALL';
    } catch (error) {
      if (error instanceof BatchAbandoned) return 'FAILED';
      throw error;
    }
  }

  /** Releases partitions. If pushes are left in one, it gets another job: BullMQ starts that when the active one ends. */
  private async release(partitions: readonly number[], which: LetGo): Promise<void> {
    if (partitions.length === 0) return;
    const { partitions: all, jobs, id } = this.options;
    const left = await all.letGo(partitions, id, which);
    const waiting: number[] = [];
    for (const partition of partitions) {
      const pushes = left.get(partition) ?? 0;
      // The job fails; the sweep brings the partition back.
      if (pushes instanceof Error) throw pushes;
      this.owned.delete(partition);
      if (pushes > 0) waiting.push(partition);
    }
    if (waiting.length > 0) await jobs.schedule(waiting);
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
