/**
 * The web process's end of the job groups: append a push to its group's partition, and schedule the
 * partition's job.
 */
import { createBatcher } from '../concurrency/batcher';
import { withTimeout } from '../concurrency/timeout';
import { groupOf } from '../domain/group';
import { foldedLog } from '../runtime/folded-log';
import type { Logger } from '../runtime/logger';
import { type Metrics, NO_METRICS } from '../telemetry/metrics';
import type { Tracing } from '../telemetry/tracing';
import type { PartitionJobs } from './partition-jobs';
import { placeOf } from './partitioning';
import type { Appended, Partitions, TimedPush } from './partitions';
import { encodePush, type QueuedPush } from './push';
import { isOutOfMemory } from './redis';

/**
 * What became of a push: queued, or rejected for certain, by a limit or behind its `previous`; or the error
 * after which it may or may not be queued.
 */
export type Enqueued = Appended | 'QUEUE_MEMORY_FULL' | 'SKIPPED_AFTER_FAILURE' | Error;

export interface GroupQueue {
  /**
   * Queues pushes, each behind all pushes of its group that were queued before, and those of one group in
   * their order.
   *
   * @param timeout milliseconds after which they must not be applied any more
   * @returns what became of each; it never rejects
   */
  enqueue(pushes: readonly QueuedPush[], timeout: number): Promise<Enqueued[]>;
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

/** Pushes of one append, and their bytes: nothing else is done by Redis meanwhile. */
const MAX_APPEND = 500;
const MAX_BYTES = 4 * 1024 * 1024;
/** So that both bounds are one. A batch of a caller that exceeds it is one append all the same. */
const MIN_WEIGHT = Math.floor(MAX_BYTES / MAX_APPEND);

export function createGroupQueue(options: GroupQueueOptions): GroupQueue {
  const { shards, tracing } = options;
  // One at a time keeps the order of acceptance within this web process. Each shard goes on by itself: the
  // node of a Cluster that has another one may be away.
  const batchers = Array.from({ length: shards }, (_, shard) =>
    createBatcher<readonly Waiting[], readonly Enqueued[]>({
      run: (groups) => appendAll(options, shard, groups),
      maxBatch: MAX_APPEND,
      weight: { of: weightOf, most: MAX_BYTES },
      maxRunning: 1,
    }),
  );
  const toShard = async (shard: number, waiting: readonly Waiting[], timeout: number) => {
    const batcher = batchers[shard];
    if (!batcher) throw new Error('a push belongs to no shard');
    return withTimeout(batcher.add(waiting), timeout);
  };
  const toShards = async (pushes: readonly QueuedPush[], timeout: number): Promise<Enqueued[]> => {
    const until = performance.now() + timeout;
    const byShard = new Map<number, { readonly at: number[]; readonly waiting: Waiting[] }>();
    for (const [at, push] of pushes.entries()) {
      const { shard } = placeOf(groupOf(push.systemCode, push.externalId), shards);
      const part = byShard.get(shard) ?? { at: [], waiting: [] };
      byShard.set(shard, part);
      part.at.push(at);
      part.waiting.push({ push, text: encodePush(push), until });
    }
    const enqueued = new Array<Enqueued>(pushes.length).fill(notTold);
    await Promise.all(
      [...byShard].map(async ([shard, { at, waiting }]) => {
        const answers = await toShard(shard, waiting, timeout).catch(asError);
        for (const [n, place] of at.entries()) {
          enqueued[place] = answers instanceof Error ? answers : (answers[n] ?? notTold);
        }
      }),
    );
    return behindFailures(pushes, enqueued);
  };
  return {
    enqueue: (pushes, timeout) =>
      tracing
        ? tracing.send((trace) =>
            toShards(
              pushes.map((push) => ({ ...push, trace })),
              timeout,
            ),
          )
        : toShards(pushes, timeout),
  };
}

const notTold = new Error('the queue told nothing of the push');
const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

/** One append of what came together, and the jobs of the partitions that nobody holds. */
async function appendAll(
  { partitions, jobs, logger, metrics = NO_METRICS }: GroupQueueOptions,
  shard: number,
  groups: readonly (readonly Waiting[])[],
): Promise<(readonly Enqueued[])[]> {
  const tell = foldedLog(logger);
  const waiting = groups.flat();
  metrics.batch('queue', waiting.length);
  try {
    const { appended, toSchedule } = await partitions.append(shard, waiting.map(timedPush));
    // The pushes are in their partitions now: a job that was not scheduled costs time, until the
    // sweep, not a push. Whoever holds its partition was rung.
    jobs.schedule(toSchedule).catch((error: Error) => {
      tell(SCHEDULE_FAILED, { partitions: toSchedule, error: error.message });
    });
    const answers = appended.values();
    return groups.map((group) => group.map(() => answers.next().value ?? notTold));
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    // Redis rejected the whole append: nothing of it is queued.
    const requestIds = waiting.slice(0, MAX_NAMED).map(({ push }) => push.id);
    tell(NOT_QUEUED, { pushes: waiting.length, requestIds, error: String(error) });
    return groups.map((group) => group.map(() => 'QUEUE_MEMORY_FULL'));
  }
}

/**
 * A partition that rejects a push takes none behind it in the same append: those that it rejects behind their
 * `previous` are told why.
 */
function behindFailures(pushes: readonly QueuedPush[], enqueued: readonly Enqueued[]): Enqueued[] {
  const rejected = new Set<string>();
  return enqueued.map((how, index) => {
    const push = pushes[index];
    if (!push || how === 'APPENDED' || how instanceof Error) return how;
    rejected.add(push.id);
    const isBehind = push.previous !== undefined && rejected.has(push.previous);
    return isBehind ? 'SKIPPED_AFTER_FAILURE' : how;
  });
}

interface Waiting {
  readonly push: QueuedPush;
  readonly text: string;
  /** Of a clock that never goes back, milliseconds. */
  readonly until: number;
}

const weightOf = (group: readonly Waiting[]): number =>
  group.reduce((sum, { text }) => sum + Math.max(MIN_WEIGHT, Buffer.byteLength(text)), 0);

const timedPush = ({ push, text, until }: Waiting): TimedPush => ({
  push,
  text,
  timeout: until - performance.now(),
});
