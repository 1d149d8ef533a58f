/** Reads waiting pushes and partition jobs for operators. The figures of a busy queue are approximate. */
import type { Job, Queue } from 'bullmq';
import type { RedisConnection } from '../../infra/redis/connect';
import { createRedisTime } from '../../infra/redis/time';
import { createReadWaiting, type PartitionState } from '../commands/read-waiting';
import { createJobQueues, type PartitionJobData } from '../jobs';
import type { RedisKeys } from '../keys';
import { decodeItem, ownerName } from '../records';
import { createWaitingTally, type WaitingClient, type WaitingGroup } from './waiting-tally';

export { createJobQueues } from '../jobs';

export interface PartitionJobView {
  readonly state: 'waiting' | 'active';
  readonly jobId: string;
  /** Milliseconds since the job was added (waiting) or since a worker took the job (active). */
  readonly forMs: number;
  readonly starts: number;
  /** How often a worker reclaimed the job after a lock expiry. */
  readonly reclaimed: number;
  /** The job waits because the queue is paused with BullMQ (../probe.ts). */
  readonly isPaused: boolean;
  /** Whether a worker holds the lock of the job. */
  readonly isLocked: boolean;
}

export interface PartitionView extends PartitionState {
  readonly job: PartitionJobView | null;
  /** Name of the worker that owns the partition. */
  readonly owner: string | null;
  /** Names of earlier owners whose transactions can still be open, the latest owner first. */
  readonly fencedOwners: readonly string[];
}

export interface PushesView {
  /** Sorted by the oldest push. A group has the pushes of one matter. */
  readonly groups: readonly WaitingGroup[];
  readonly clients: readonly WaitingClient[];
  /** Partitions with more pushes than `QueueView.pushes` has read. `groups` and `clients` lack the other pushes. */
  readonly cutPartitions: readonly number[];
}

export interface QueueView {
  /** All partitions, including empty partitions. */
  partitions(): Promise<PartitionView[]>;
  /** @param max maximum pushes to read from each partition; 10,000 by default */
  pushes(max?: number): Promise<PushesView>;
  close(): Promise<void>;
}

const MAX_PUSHES = 10_000;
/** Maximum jobs to read for each state and shard. */
const MAX_JOBS = 5_000;
/** Maximum pushes of one LRANGE command. */
const CHUNK = 250;

export function createQueueView(redis: RedisConnection, keys: RedisKeys): QueueView {
  const time = createRedisTime(redis);
  const queues = createJobQueues(redis, keys);
  const readWaiting = createReadWaiting(redis, keys);
  return {
    partitions: async () => {
      const now = await time.now();
      const jobs = await Promise.all(queues.map((queue) => readJobs(queue, redis, now)));
      const byPartition = new Map(jobs.flat());
      const [states, owners] = await Promise.all([readWaiting(), readOwners(redis, keys)]);
      return states.map((state) => {
        const names = (owners.get(state.partition) ?? '').split(' ').map(ownerName);
        const [owner, ...fencedOwners] = names;
        return {
          ...state,
          job: byPartition.get(state.partition) ?? null,
          owner: owner || null,
          fencedOwners: fencedOwners.filter(Boolean),
        };
      });
    },
    pushes: async (max = MAX_PUSHES) => {
      const tally = createWaitingTally(await time.now());
      const cutPartitions: number[] = [];
      const holding = (await readWaiting()).filter(({ waiting }) => waiting > 0);
      for (const { partition } of holding) {
        for await (const item of itemsOf(redis, keys.partition(partition), max)) {
          tally.add(partition, decodeItem(item));
        }
        if ((await redis.lindex(keys.partition(partition), max)) !== null)
          cutPartitions.push(partition);
      }
      return { groups: tally.groups(), clients: tally.clients(), cutPartitions };
    },
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

/** @returns the owner and the fenced owners of each partition, separated by blanks */
async function readOwners(redis: RedisConnection, keys: RedisKeys): Promise<Map<number, string>> {
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const owners = await Promise.all(shards.map((shard) => redis.hgetall(keys.owners(shard))));
  const entries = owners.flatMap((ofShard) => Object.entries(ofShard));
  return new Map(entries.map(([partition, text]) => [Number(partition), text]));
}

async function* itemsOf(redis: RedisConnection, list: string, max: number): AsyncGenerator<string> {
  for (let from = 0; from < max; from += CHUNK) {
    const last = Math.min(from + CHUNK, max) - 1;
    const items = await redis.lrange(list, from, last);
    yield* items;
    if (items.length < CHUNK) return;
  }
}

async function readJobs(
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
  // This order also finds a job that a worker takes between the two reads.
  const waiting = await queue.getWaiting(0, MAX_JOBS - 1);
  const active = await queue.getActive(0, MAX_JOBS - 1);
  return Promise.all([
    ...waiting.map((job) => toView(job, false)),
    ...active.map((job) => toView(job, true)),
  ]);
}
