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
  /** It waits because the queue is paused with BullMQ (queue-pause.ts). */
  readonly isPaused: boolean;
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

/** Jobs of one state and shard, at most: there is one per partition. */
const MOST = 5_000;

/** The queues of partition jobs, one for each shard, read only: opening them writes nothing. */
export function readOnlyJobQueues(
  redis: RedisConnection,
  keys: RedisKeys,
): Queue<PartitionJobData>[] {
  return Array.from({ length: keys.shards }, (_, shard) => readOnlyJobQueue(redis, keys, shard));
}

function readOnlyJobQueue(
  redis: RedisConnection,
  keys: RedisKeys,
  shard: number,
): Queue<PartitionJobData> {
  const queue = new Queue<PartitionJobData>(PARTITION_JOB_QUEUE, {
    connection: redis,
    prefix: keys.bullPrefix(shard),
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
  const queues = readOnlyJobQueues(redis, keys);
  return {
    read: async (now) => {
      const views = await Promise.all(queues.map((queue) => readQueue(queue, redis, now)));
      return new Map(views.flat());
    },
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

async function readQueue(
  queue: Queue<PartitionJobData>,
  redis: RedisConnection,
  now: number,
): Promise<[number, PartitionJobView][]> {
  const isPaused = await queue.isPaused();
  const toView = async (
    job: Job<PartitionJobData>,
    isActive: boolean,
  ): Promise<[number, PartitionJobView]> => {
    const jobId = job.id ?? '';
    const since = (isActive && job.processedOn) || job.timestamp;
    const view: PartitionJobView = {
      state: isActive ? 'active' : 'waiting',
      jobId,
      forMs: Math.max(0, now - since),
      starts: job.attemptsStarted,
      reclaimed: job.stalledCounter,
      isPaused: isPaused && !isActive,
      isLocked: isActive && (await redis.exists(queue.toKey(`${jobId}:lock`))) === 1,
    };
    return [job.data.partition, view];
  };
  // Waiting before active: a job that a worker takes between the two reads is seen all the same.
  const waiting = await queue.getWaiting(0, MOST - 1);
  const active = await queue.getActive(0, MOST - 1);
  return Promise.all([
    ...waiting.map((job) => toView(job, false)),
    ...active.map((job) => toView(job, true)),
  ]);
}
