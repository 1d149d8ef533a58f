/**
 * Partition jobs: the BullMQ jobs of which each lets one worker hold a partition. A job's
 * deduplication id is its partition: while one waits, another is absorbed; while one is active, exactly
 * one follow-up is kept. So a partition never has two active jobs, and never none while one is due.
 * A job stays active as long as its partition has traffic (group-worker.ts).
 */
import { Queue } from 'bullmq';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
import { shardOf } from './partitioning';
import type { RedisConnection } from './redis';

export interface PartitionJobData {
  readonly partition: number;
}

export interface PartitionJobs {
  /** Adds a job for each partition; see above for what becomes of a second one. */
  schedule(partitions: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

export function createPartitionJobs(redis: RedisConnection, keys: RedisKeys): PartitionJobs {
  const queues = Array.from({ length: keys.shards }, (_, shard) => openQueue(redis, keys, shard));
  return {
    schedule: async (partitions) => {
      await Promise.all(
        queues.map(async (queue, shard) => {
          const own = partitions.filter((one) => shardOf(one, keys.shards) === shard);
          if (own.length > 0) await queue.addBulk(own.map(toJob));
        }),
      );
    },
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
}

function openQueue(
  redis: RedisConnection,
  keys: RedisKeys,
  shard: number,
): Queue<PartitionJobData> {
  const queue = new Queue<PartitionJobData>(PARTITION_JOB_QUEUE, {
    connection: redis,
    prefix: keys.bullPrefix(shard),
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
  // The connection reports its own loss; without a listener BullMQ prints every attempt.
  queue.on('error', () => undefined);
  return queue;
}

type BulkJob = Parameters<Queue<PartitionJobData>['addBulk']>[0][number];

const toJob = (partition: number): BulkJob => ({
  name: 'partition',
  data: { partition },
  opts: { deduplication: { id: `partition-${partition}`, keepLastIfActive: true } },
});
