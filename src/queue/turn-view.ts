/** Whose turn it is, as BullMQ has it, for operators. Changes nothing. */
import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { type RedisKeys, TURN_QUEUE } from './keys';
import type { TurnData } from './turns';

export interface TurnView {
  readonly state: 'waiting' | 'active';
  readonly jobId: string;
  /**
   * Milliseconds since it was owed, or since a worker took it. The processes' own clocks have said
   * when: it is off by what those differ from that of Redis.
   */
  readonly forMs: number;
  /** How often a worker began with it. */
  readonly starts: number;
  /** How often it was taken over from a worker that fell silent. */
  readonly takenOver: number;
  /** Whether whoever is at work on it still says so; false while it waits. */
  readonly isLocked: boolean;
}

export interface TurnReader {
  /**
   * @param now Redis time, epoch milliseconds
   * @returns the turns by partition; a partition that is owed none is absent
   */
  read(now: number): Promise<Map<number, TurnView>>;
  close(): Promise<void>;
}

/** Jobs of one state, at most: there is one per partition. */
const MOST = 100;

/** The queue of turns for somebody who only looks: nothing is written by opening it. */
export function lookAtTurns(redis: Redis, keys: RedisKeys): Queue<TurnData> {
  const queue = new Queue<TurnData>(TURN_QUEUE, {
    connection: redis,
    prefix: keys.bullPrefix,
    // Else it writes down its version.
    skipMetasUpdate: true,
  });
  // The connection reports its own loss; without a listener BullMQ prints every attempt.
  queue.on('error', () => undefined);
  return queue;
}

export function createTurnReader(redis: Redis, keys: RedisKeys): TurnReader {
  const queue = lookAtTurns(redis, keys);
  const toView = async (job: Job<TurnData>, now: number, isActive: boolean): Promise<TurnView> => {
    const jobId = job.id ?? '';
    const since = (isActive && job.processedOn) || job.timestamp;
    return {
      state: isActive ? 'active' : 'waiting',
      jobId,
      forMs: Math.max(0, now - since),
      starts: job.attemptsStarted,
      takenOver: job.stalledCounter,
      isLocked: isActive && (await redis.exists(queue.toKey(`${jobId}:lock`))) === 1,
    };
  };
  return {
    read: async (now) => {
      // In the order in which a turn goes: one that is taken between the two is seen all the same.
      const waiting = await queue.getWaiting(0, MOST - 1);
      const active = await queue.getActive(0, MOST - 1);
      const views = new Map<number, TurnView>();
      for (const job of waiting) views.set(job.data.partition, await toView(job, now, false));
      for (const job of active) views.set(job.data.partition, await toView(job, now, true));
      return views;
    },
    close: () => queue.close(),
  };
}
