/**
 * The web process's end of the job groups: append a push to its group's partition, and schedule the
 * partition's job.
 */
import { createBatcher } from '../concurrency/batcher';
import { groupOf } from '../domain/group';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';
import type { PartitionJobs } from './partition-jobs';
import { placeOf } from './partitioning';
import type { Appended, Partitions, TimedPush } from './partitions';
import type { QueuedPush } from './push';
import { isOutOfMemory } from './redis';

export type Enqueued = Appended | 'QUEUE_MEMORY_FULL';

export interface GroupQueue {
  /**
   * Queues a push behind all pushes of its group that were queued before.
   *
   * @param timeout milliseconds after which it must not be applied any more
   * @returns whether it is in its partition, or which limit rejects it
   * @throws the connection's error where Redis does not answer: the push may or may not be queued
   */
  enqueue(push: QueuedPush, timeout: number): Promise<Enqueued>;
}

const SCHEDULE_FAILED = {
  level: 'warn',
  text: 'scheduling partition jobs failed, the sweep will do it',
  dueTo: ['redis'],
} as const;

/** Requests in one line of the log. */
const MAX_NAMED = 20;
const NOT_QUEUED = { level: 'warn', text: 'not queued', dueTo: ['redis'] } as const;

export interface GroupQueueOptions {
  readonly partitions: Pick<Partitions, 'append'>;
  readonly jobs: Pick<PartitionJobs, 'schedule'>;
  /** Of the queue: see partitioning.ts. */
  readonly shards: number;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  readonly tracing?: Tracing | undefined;
}

export function createGroupQueue(options: GroupQueueOptions): GroupQueue {
  const { partitions, jobs, shards, logger, metrics = NO_METRICS, tracing } = options;
  const tell = foldedLog(logger);
  const run = async (shard: number, waiting: readonly Waiting[]): Promise<Enqueued[]> => {
    metrics.batch('queue', waiting.length);
    try {
      const { appended, toSchedule } = await partitions.append(shard, waiting.map(timedPush));
      // The pushes are in their partitions now: a job that was not scheduled costs time, until the
      // sweep, not a push. Whoever holds its partition was rung.
      jobs.schedule(toSchedule).catch((error: Error) => {
        tell(SCHEDULE_FAILED, { partitions: toSchedule, error: error.message });
      });
      return appended;
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      // Redis rejected the whole append: nothing of it is queued.
      const requestIds = waiting.slice(0, MAX_NAMED).map(({ push }) => push.id);
      tell(NOT_QUEUED, { pushes: waiting.length, requestIds, error: String(error) });
      return waiting.map(() => 'QUEUE_MEMORY_FULL');
    }
  };
  // One at a time keeps the order of acceptance within this web process. Each shard goes on by itself: the
  // node of a Cluster that has another one may be away.
  const batchers = Array.from({ length: shards }, (_, shard) =>
    createBatcher<Waiting, Enqueued>({
      run: (waiting) => run(shard, waiting),
      maxBatch: 500,
      maxRunning: 1,
    }),
  );
  const add = async (waiting: Waiting): Promise<Enqueued> => {
    const { systemCode, externalId } = waiting.push;
    const batcher = batchers[placeOf(groupOf(systemCode, externalId), shards).shard];
    if (!batcher) throw new Error('a push belongs to no shard');
    return batcher.add(waiting);
  };
  return {
    enqueue: (push, timeout) => {
      const until = performance.now() + timeout;
      return tracing
        ? tracing.send((trace) => add({ push: { ...push, trace }, until }))
        : add({ push, until });
    },
  };
}

interface Waiting {
  readonly push: QueuedPush;
  /** Of a clock that never goes back, milliseconds. */
  readonly until: number;
}

const timedPush = ({ push, until }: Waiting): TimedPush => ({
  push,
  timeout: until - performance.now(),
});
