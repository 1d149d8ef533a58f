/** The partitions: ordered lists of waiting pushes in Redis, and the commands that work on them. */

import { groupOf, PARTITIONS, partitionOf } from '../domain/group';
import type { RedisKeys } from './keys';
import { ACKNOWLEDGE, APPEND, READ } from './partition-scripts';
import { decodeItem, encodePush, itemHeader, type QueuedPush, type WaitingPush } from './push';
import type { RedisConnection } from './redis';
import type { RedisTime } from './redis-time';

/** What a worker reads, applies and acknowledges together: the first pushes of some partitions. */
export interface Batch {
  readonly owner: string;
  /**
   * Earlier owners of the partitions that never acknowledged: they died, or lost their lock and may
   * still be at work. Their open transactions must be ended before this batch commits.
   */
  readonly fencedOwners: readonly string[];
  /** Redis time, epoch milliseconds: the clock that the deadlines were written by. */
  readonly now: number;
  readonly records: readonly PartitionRecords[];
}

/** The first pushes of one partition, in their order. */
export interface PartitionRecords {
  readonly partition: number;
  readonly pushes: readonly WaitingPush[];
  /** As Redis holds them. */
  readonly bytes: number;
}

/** What one partition may hold. */
export interface PartitionLimits {
  /** PARTITION_LIMIT */
  readonly pushes: number;
  /** PARTITION_BYTES; a push that is larger is taken by an empty partition. */
  readonly bytes: number;
}

/** What became of a push that was to be appended: in its partition, or rejected by one of its limits. */
export type Appended = 'APPENDED' | 'PARTITION_FULL' | 'PARTITION_BYTES_FULL';

/** One message to one web process. */
export interface ReplyMessage {
  readonly ingressId: string;
  readonly payload: string;
}

/** A push with the time that its caller has left to wait. */
export interface TimedPush {
  readonly push: QueuedPush;
  /** Milliseconds from now after which it must not be applied any more. */
  readonly timeout: number;
}

export interface Partitions {
  /**
   * Appends pushes, each to the end of its partition.
   *
   * @returns what became of each, and the partitions that were empty before and therefore need a job
   * @throws the connection's error; where that is `isOutOfMemory`, none was appended
   */
  append(pushes: readonly TimedPush[]): Promise<{ appended: Appended[]; toSchedule: number[] }>;
  /**
   * Reads the first pushes of each partition, until 4 MiB are reached; each partition has an equal
   * share. Nothing is removed.
   *
   * @param owner will commit the batch: see owner.ts
   * @param most pushes of all partitions together (but one of each at least), at most; 256 where it is
   *   not given
   */
  read(partitions: readonly number[], owner: string, most?: number): Promise<Batch>;
  /**
   * Acknowledges a batch: sends the replies, and only then trims what was read, in one step. Of a
   * partition that no longer begins with what the batch read (its job lost its lock, or a failover lost
   * its end) nothing is trimmed: what is still there is read again, and found settled.
   *
   * @returns how many pushes each partition still holds
   */
  acknowledge(batch: Batch, replies: readonly ReplyMessage[]): Promise<number[]>;
  /** The partitions that hold pushes. */
  waiting(): Promise<number[]>;
}

/** Pushes. More would save little, and on a slow database all of them would wait for the commit. */
export const MAX_BATCH_SIZE = 256;
/** Owners that can die on one partition, one after the other, before Redis forgets the oldest. */
const MAX_FENCED_OWNERS = 20;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

interface PartitionCommands {
  appendToPartitions(
    keys: number,
    ...args: (string | number)[]
  ): Promise<[number[], number[], number]>;
  readPartitions(
    keys: number,
    ...args: (string | number)[]
  ): Promise<[number, string[], string[][], number[]]>;
  acknowledgeBatch(keys: number, ...args: (string | number)[]): Promise<number[]>;
}

/** By what the script says of each push. */
const APPENDED: readonly Appended[] = ['APPENDED', 'PARTITION_FULL', 'PARTITION_BYTES_FULL'];

interface PartitionDependencies {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly limits: PartitionLimits;
  readonly time: RedisTime;
}

/**
 * @param time of Redis, which learns from every append
 */
export function createPartitions(
  redis: RedisConnection,
  keys: RedisKeys,
  limits: PartitionLimits,
  time: RedisTime,
): Partitions {
  redis.defineCommand('appendToPartitions', { lua: APPEND });
  redis.defineCommand('readPartitions', { lua: READ });
  redis.defineCommand('acknowledgeBatch', { lua: ACKNOWLEDGE });
  const deps = { redis, keys, limits, time };
  return {
    append: (pushes) => append(deps, pushes),
    read: (partitions, owner, most = MAX_BATCH_SIZE) => read(deps, partitions, { owner, most }),
    acknowledge: (batch, replies) => acknowledge(deps, batch, replies),
    waiting: () => waiting(deps),
  };
}

async function append(
  { redis, keys, limits, time }: PartitionDependencies,
  pushes: readonly TimedPush[],
): ReturnType<Partitions['append']> {
  const partitions = pushes.map(({ push }) =>
    partitionOf(groupOf(push.systemCode, push.externalId)),
  );
  const distinct = [...new Set(partitions)];
  const indexes = new Map(distinct.map((partition, index) => [partition, index + 1]));
  const asked = performance.now();
  const start = (await time.now()) - (performance.now() - asked);
  const [appended, wasEmpty, now] = await commandsOf(redis).appendToPartitions(
    1 + distinct.length,
    keys.partitionBytes,
    ...distinct.map(keys.partition),
    limits.pushes,
    limits.bytes,
    ...distinct,
    ...pushes.flatMap(({ push, timeout }, i) => [
      indexes.get(partitions[i] ?? 0) ?? 0,
      Math.floor(start + Math.max(0, timeout)),
      encodePush(push),
    ]),
  );
  time.note(now);
  return {
    appended: appended.map((how) => APPENDED[how] ?? 'PARTITION_FULL'),
    toSchedule: distinct.filter((_, index) => wasEmpty[index] === 1),
  };
}

async function read(
  { redis, keys }: PartitionDependencies,
  partitions: readonly number[],
  { owner, most }: { readonly owner: string; readonly most: number },
): Promise<Batch> {
  const share = (whole: number) => Math.max(1, Math.floor(whole / partitions.length));
  const [now, fencedOwners, records, sizes] = await commandsOf(redis).readPartitions(
    1 + partitions.length,
    keys.owners,
    ...partitions.map(keys.partition),
    share(most),
    share(MAX_BATCH_BYTES),
    owner,
    MAX_FENCED_OWNERS,
    ...partitions,
  );
  return {
    owner,
    fencedOwners: [...new Set(fencedOwners)],
    now,
    records: partitions.map((partition, n) => ({
      partition,
      pushes: (records[n] ?? []).map(decodeItem),
      bytes: sizes[n] ?? 0,
    })),
  };
}

function acknowledge(
  { redis, keys }: PartitionDependencies,
  { owner, records }: Batch,
  replies: readonly ReplyMessage[],
): Promise<number[]> {
  return commandsOf(redis).acknowledgeBatch(
    2 + records.length,
    keys.owners,
    keys.partitionBytes,
    ...records.map(({ partition }) => keys.partition(partition)),
    owner,
    ...records.flatMap(({ partition, pushes, bytes }) => {
      const last = pushes.at(-1);
      return [partition, pushes.length, bytes, last ? itemHeader(last) : ''];
    }),
    ...replies.flatMap(({ ingressId, payload }) => [keys.replies(ingressId), payload]),
  );
}

async function waiting({ redis, keys }: PartitionDependencies): Promise<number[]> {
  const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const lengths = await redis
    .pipeline(all.map((partition) => ['llen', keys.partition(partition)]))
    .exec();
  return all.filter((partition) => Number(lengths?.[partition]?.[1] ?? 0) > 0);
}

const commandsOf = (redis: RedisConnection) => redis as unknown as PartitionCommands;
