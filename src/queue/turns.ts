/**
 * Turns: the BullMQ jobs that let a partition's pushes be applied one batch at a time. A turn's
 * deduplication id is its partition: while one waits, another is absorbed; while one is active, exactly
 * one follow-up is kept. So a partition never has two turns at once, and never none while one is owed.
 */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type RedisKeys, TURN_QUEUE } from './keys';

export interface TurnData {
  readonly partition: number;
}

export interface Turns {
  /** Owes each partition a turn. */
  wake(partitions: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

export function createTurns(redis: Redis, keys: RedisKeys): Turns {
  const queue = new Queue<TurnData>(TURN_QUEUE, {
    connection: redis,
    prefix: keys.bullPrefix,
    streams: { events: { maxLen: 100 } },
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
  });
  // The connection reports its own loss; without a listener BullMQ prints every attempt.
  queue.on('error', () => undefined);
  return {
    wake: async (partitions) => {
      if (partitions.length === 0) return;
      await queue.addBulk(
        partitions.map((partition) => ({
          name: 'turn',
          data: { partition },
          opts: { deduplication: { id: `partition-${partition}`, keepLastIfActive: true } },
        })),
      );
    },
    close: () => queue.close(),
  };
}
