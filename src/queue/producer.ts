/**
 * The web process's side of the queue: appends pushes to partitions and receives the replies of the workers. A group is
 * all pushes of one matter.
 */
import { createBatcher } from '../concurrency/batcher';
import { withTimeout } from '../concurrency/timing';
import { groupOf } from '../domain/matter';
import { foldedLog } from '../infra/folded-log';
import type { Logger } from '../infra/logger';
import { isOutOfMemory } from '../infra/redis/commands';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import type { Tracing } from '../observability/tracing';
import type { Appended } from './commands/append-pushes';
import type { Partitions } from './commands/partitions';
import type { PartitionJobs } from './jobs';
import { onEachShard, partitionOf, type QueueLayout } from './keys';
import { encodePush, type PushMessage } from './records';

export { createPartitionJobs, type PartitionJobs } from './jobs';
export type { PushMessage } from './records';
export { createReplyInbox, type ReplyInbox } from './replies';

/** `APPENDED`: the push is queued. An Error: the push may be queued. All other values: the push is not queued. */
export type Enqueued = Appended | 'QUEUE_MEMORY_FULL' | 'SKIPPED_AFTER_FAILURE' | Error;

export interface GroupQueue {
  /**
   * The pushes of one group keep their order.
   *
   * @param timeout milliseconds until the deadline of the pushes
   * @returns the result for each push, in the same order; the promise never rejects
   */
  enqueue(pushes: readonly PushMessage[], timeout: number): Promise<Enqueued[]>;
}

const SCHEDULE_FAILED = {
  level: 'warn',
  text: 'scheduling partition jobs failed, the sweep will schedule them',
  dueTo: ['redis'],
} as const;

/** Maximum request ids in one log line. */
const MAX_NAMED = 20;
const NOT_QUEUED = {
  level: 'warn',
  text: 'pushes not queued, the memory of Redis is full',
  dueTo: ['redis'],
} as const;

export interface GroupQueueOptions {
  readonly partitions: Pick<Partitions, 'append'>;
  readonly jobs: Pick<PartitionJobs, 'schedule'>;
  readonly layout: QueueLayout;
  readonly logger: Logger;
  readonly metrics?: Metrics;
  readonly tracing?: Tracing | undefined;
}

/** Maximum pushes of one append. Redis runs no other command during an append. */
const MAX_APPEND = 500;
/** Maximum bytes of one append. The pushes of one `enqueue` call stay together, even if they exceed both limits. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Each push counts as at least this many bytes, so MAX_BYTES allows at most MAX_APPEND pushes. */
const MIN_WEIGHT = Math.floor(MAX_BYTES / MAX_APPEND);

interface Queued {
  readonly push: PushMessage;
  /** The index of the push in its call of `enqueue`. */
  readonly at: number;
  readonly text: string;
  /** Deadline of the push, as a time of `performance.now()` in milliseconds. */
  readonly until: number;
}

const NO_RESULT = new Error('no result from the queue for this push');

export function createGroupQueue(options: GroupQueueOptions): GroupQueue {
  const { layout, tracing } = options;
  const { shards } = layout;
  // `maxRunning: 1` keeps the order of the pushes. Each shard has a batcher, because an unavailable shard must not
  // delay appends to other shards.
  const batchers = Array.from({ length: shards }, (_, shard) =>
    createBatcher<readonly Queued[], readonly Enqueued[]>({
      run: (calls) => appendAll(options, shard, calls),
      maxBatch: MAX_APPEND,
      weight: { of: weightOf, max: MAX_BYTES },
      maxRunning: 1,
    }),
  );
  const partitionOfPush = ({ push: { systemCode, externalId } }: Queued) =>
    partitionOf(groupOf(systemCode, externalId), layout);
  const enqueue = async (pushes: readonly PushMessage[], timeout: number): Promise<Enqueued[]> => {
    const until = performance.now() + timeout;
    const queued = pushes.map((push, at) => ({ push, at, text: encodePush(push), until }));
    const results = new Array<Enqueued>(pushes.length).fill(NO_RESULT);
    const toShard = async (shard: number, ofShard: readonly Queued[]) => {
      const append = batchers[shard]?.add(ofShard) ?? Promise.resolve([]);
      const appended = await withTimeout(append, timeout);
      for (const [n, { at }] of ofShard.entries()) results[at] = appended[n] ?? NO_RESULT;
    };
    await onEachShard(shards, queued, partitionOfPush, toShard, ({ at }, error) => {
      results[at] = error;
    });
    return skipBehindRejected(pushes, results);
  };
  if (!tracing) return { enqueue };
  return {
    enqueue: (pushes, timeout) =>
      tracing.send((trace) => {
        const traced = pushes.map((push) => ({ ...push, trace }));
        return enqueue(traced, timeout);
      }),
  };
}

const weightOf = (queued: readonly Queued[]): number =>
  queued.reduce((sum, { text }) => sum + Math.max(MIN_WEIGHT, Buffer.byteLength(text)), 0);

async function appendAll(
  { partitions, jobs, logger, metrics = NO_METRICS }: GroupQueueOptions,
  shard: number,
  calls: readonly (readonly Queued[])[],
): Promise<(readonly Enqueued[])[]> {
  const now = performance.now();
  const pushes = calls
    .flat()
    .map(({ push, text, until }) => ({ push, text, timeout: until - now }));
  metrics.batch('queue', pushes.length);
  try {
    const { appended, toSchedule } = await partitions.append(shard, pushes);
    // The append script notifies the owners of partitions. Only partitions without an owner need a job.
    jobs.schedule(toSchedule).catch((error: Error) => {
      foldedLog(logger)(SCHEDULE_FAILED, { partitions: toSchedule, error: error.message });
    });
    const results = appended.values();
    return calls.map((queued) => queued.map(() => results.next().value ?? NO_RESULT));
  } catch (error) {
    if (!isOutOfMemory(error)) throw error;
    // Redis rejected the whole append, so none of the pushes is queued.
    const requestIds = pushes.slice(0, MAX_NAMED).map(({ push }) => push.id);
    const line = { pushes: pushes.length, requestIds, error: String(error) };
    foldedLog(logger)(NOT_QUEUED, line);
    return calls.map((queued) => queued.map(() => 'QUEUE_MEMORY_FULL'));
  }
}

/** Changes the result of a rejected push to `SKIPPED_AFTER_FAILURE` if its `previous` push was rejected too. */
function skipBehindRejected(
  pushes: readonly PushMessage[],
  results: readonly Enqueued[],
): Enqueued[] {
  const rejected = new Set<string>();
  return pushes.map(({ id, previous }, index) => {
    const result = results[index] ?? NO_RESULT;
    if (result === 'APPENDED' || result instanceof Error) return result;
    rejected.add(id);
    return previous !== undefined && rejected.has(previous) ? 'SKIPPED_AFTER_FAILURE' : result;
  });
}
