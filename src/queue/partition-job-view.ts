/** The partition jobs as BullMQ has them, for operators. Changes nothing. */
import { type Job, Queue } from 'bullmq';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
import type { PartitionJobData } from './partition-jobs';
import type { RedisConnection } from './redis';

export interface PartitionJobView {
  readonly state: 'waiting' | 'active';
  readonly jobId: string;
  /**
   * Milliseconds since it was added (waiting) or since a worker took it (active). Both instants are
   * from the clocks of processes: the figure is off by as much as those differ from that of Redis.
   */
  readonly forMs: number;
  /** How often a worker began with it. */
  readonly starts: number;
  /** How often a worker reclaimed it because it had stalled. */
  readonly reclaimed: number;
  /** Whether its worker still holds its lock; false while it waits. */
  readonly isLocked: boolean;
}

export interface PartitionJobReader {
  /**
   * @param now Redis time, epoch milliseconds
   * @returns the jobs by partition; a partition without a job is absent
   */
  read(now: number): Promise<Map<number, PartitionJobView>>;
  close(): Promise<void>;
}

/** Jobs of one state, at most: there is one per partition. */
const MOST = 100;

/** The queue of partition jobs, read only: opening it writes nothing. */
export function readOnlyJobQueue(redis: RedisConnection, keys: RedisKeys): Queue<PartitionJobData> {
  const queue = new Queue<PartitionJobData>(PARTITION_JOB_QUEUE, {
    connection: redis,
    prefix: keys.bullPrefix,
    // Else it writes down its version.
    skipMetasUpdate: true,
  });
  // The connection reports its own loss; without a listener BullMQ prints every attempt.
  queue.on('error', () => undefined);
  return queue;
}

export function createPartitionJobReader(
  redis: RedisConnection,
  keys: RedisKeys,
): PartitionJobReader {
  const queue = readOnlyJobQueue(redis, keys);
  const toView = async (
    job: Job<PartitionJobData>,
    now: number,
    isActive: boolean,
  ): Promise<PartitionJobView> => {
    const jobId = job.id ?? '';
    const since = (isActive && job.processedOn) || job.timestamp;
    return {
      state: isActive ? 'active' : 'waiting',
      jobId,
      forMs: Math.max(0, now - since),
      starts: job.attemptsStarted,
      reclaimed: job.stalledCounter,
      isLocked: isActive && (await redis.exists(queue.toKey(`${jobId}:lock`))) === 1,
    };
  };
  return {
    read: async (now) => {
      // Waiting before active: a job that a worker takes between the two reads is seen all the same.
      const waiting = await queue.getWaiting(0, MOST - 1);
      const active = await queue.getActive(0, MOST - 1);
      const views = new Map<number, PartitionJobView>();
      for (const job of waiting) views.set(job.data.partition, await toView(job, now, false));
      for (const job of active) views.set(job.data.partition, await toView(job, now, true));
      return views;
    },
    close: () => queue.close(),
  };
}
