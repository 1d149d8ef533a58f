/**
 * Partition jobs: the BullMQ jobs of which each lets one worker work on a partition. A job's
 * deduplication id is its partition: while one waits, another is absorbed; while one is active, exactly
 * one follow-up is kept. So a partition never has two active jobs, and never none while one is due.
 */
import { Queue } from 'bullmq';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
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
  const queue = new Queue<PartitionJobData>(PARTITION_JOB_QUEUE, {
    connection: redis,
    prefix: keys.bullPrefix,
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
  // The connection reports its own loss; without a listener BullMQ prints every attempt.
  queue.on('error', () => undefined);
  return {
    schedule: async (partitions) => {
      if (partitions.length === 0) return;
      await queue.addBulk(
        partitions.map((partition) => ({
          name: 'partition',
          data: { partition },
          opts: { deduplication: { id: `partition-${partition}`, keepLastIfActive: true } },
        })),
      );
    },
    close: () => queue.close(),
  };
}
