/**
 * All commands on partitions. A partition is an ordered list of waiting pushes in Redis. A worker that has received
 * the job of a partition becomes the owner of the partition with the first read.
 */

import { defineScript } from '../../infra/redis/commands';
import type { RedisConnection } from '../../infra/redis/connect';
import type { RedisTime } from '../../infra/redis/time';
import { onEachShard, type RedisKeys } from '../keys';
import {
  type Batch,
  decodeItem,
  itemHeader,
  type PartitionRecords,
  readOwner,
  TIME_DIGITS,
  type WantedPartition,
} from '../records';
import { type Reply, toMessages } from '../replies';
import { createAppendPushes, type PartitionLimits } from './append-pushes';

export type Partitions = ReturnType<typeof createPartitions>;

export function createPartitions(
  redis: RedisConnection,
  keys: RedisKeys,
  limits: PartitionLimits,
  time: RedisTime,
) {
  return {
    append: createAppendPushes(redis, keys, limits, time),
    read: createRead(redis, keys),
    replyAndRemove: createReplyAndRemove(redis, keys),
    isOwned: createIsOwned(redis, keys),
    noteOwnersKnown: createNoteOwnersKnown(redis, keys),
    release: createRelease(redis, keys),
    findDue: createFindDue(redis, keys),
  };
}

const numberOf = ({ partition }: { readonly partition: number }): number => partition;

/** Approximate maximum bytes of one batch. */
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** Maximum earlier owners that Redis remembers for one partition. */
const MAX_FENCED_OWNERS = 20;

/** A number in `items` means that the worker does not own the partition. */
type ReadAnswer = [
  now: number,
  fencedOwners: string[],
  items: (string[] | number)[],
  bytes: number[],
  areOwnersKnown: number,
];

/**
 * Reads the first pushes of some partitions. If `WantedPartition.isTaken` is true, the worker has just received the
 * job of the partition. The script then makes the worker the owner of the partition.
 */
function createRead(redis: RedisConnection, keys: RedisKeys) {
  const run = defineScript<ReadAnswer>(redis, __dirname, 'read-partitions');
  return async (
    wanted: readonly WantedPartition[],
    /**
     * `limit`: maximum pushes of the batch. If `wanted` has more partitions than `limit`, each partition may still
     * return one push.
     */
    { owner, session, limit }: { owner: string; session: string; limit: number },
  ): Promise<Batch> => {
    const unread: [number, 'LOST' | Error][] = [];
    const records: PartitionRecords[] = [];
    const fencedOwners = new Set<string>();
    const unknownShards: number[] = [];
    let latest = 0;
    const read = async (shard: number, ofShard: readonly WantedPartition[]) => {
      const shareOf = (whole: number) => Math.floor((whole * ofShard.length) / wanted.length);
      const lists = ofShard.map(({ partition }) => keys.partition(partition));
      const numbers = ofShard.flatMap(({ partition, isTaken }) => [partition, isTaken ? 1 : 0]);
      const limits = [shareOf(limit), shareOf(MAX_BATCH_BYTES)];
      const [now, fenced, found, sizes, known] = await run(
        [keys.owners(shard), keys.ownersKnown(shard), ...lists],
        [...limits, owner, MAX_FENCED_OWNERS, ...numbers],
      );
      latest = Math.max(latest, now);
      for (const earlier of fenced) fencedOwners.add(earlier);
      if (known !== 1) unknownShards.push(shard);
      for (const [n, { partition }] of ofShard.entries()) {
        const items = found[n];
        if (Array.isArray(items))
          records.push({ partition, pushes: items.map(decodeItem), bytes: sizes[n] ?? 0, now });
        else unread.push([partition, 'LOST']);
      }
    };
    await onEachShard(keys.shards, wanted, numberOf, read, ({ partition }, error) =>
      unread.push([partition, error]),
    );
    const earlier = { fencedOwners: [...fencedOwners], unknownShards };
    return { owner, session, ...earlier, now: latest, records, unread: new Map(unread) };
  };
}

/**
 * Publishes the replies of a batch, then removes the pushes of the batch.
 *
 * @returns for each partition the number of remaining pushes, or the error of its shard
 */
function createReplyAndRemove(redis: RedisConnection, keys: RedisKeys) {
  const run = defineScript<number[]>(redis, __dirname, 'reply-and-remove', 'client-tally');
  return async (
    { owner, fencedOwners, records }: Batch,
    replies: readonly Reply<unknown>[],
    /** Redis time, epoch milliseconds. */
    sentAt: number,
  ) => {
    const waiting = new Map<number, number | Error>();
    const replyAndRemove = async (shard: number, ofShard: readonly PartitionRecords[]) => {
      const isAll = ofShard.length === records.length;
      const messages = toMessages(isAll ? replies : repliesTo(ofShard, replies), sentAt);
      const lists = ofShard.map(({ partition }) => keys.partition(partition));
      const left = await run(
        [keys.owners(shard), keys.partitionBytes(shard), keys.partitionClients(shard), ...lists],
        [
          ...[owner, fencedOwners.length > 0 ? 1 : 0, messages.length],
          ...messages.flatMap(({ replyTo, payload }) => [keys.replies(replyTo), payload]),
          ...ofShard.flatMap(({ partition, pushes, bytes }) => {
            const last = pushes.at(-1);
            return [partition, pushes.length, bytes, last ? itemHeader(last) : ''];
          }),
        ],
      );
      for (const [n, { partition }] of ofShard.entries()) waiting.set(partition, left[n] ?? 0);
    };
    await onEachShard(keys.shards, records, numberOf, replyAndRemove, ({ partition }, error) =>
      waiting.set(partition, error),
    );
    return waiting;
  };
}

function repliesTo(records: readonly PartitionRecords[], replies: readonly Reply<unknown>[]) {
  const ids = new Set(records.flatMap(({ pushes }) => pushes.map(({ id }) => id)));
  return replies.filter(({ id }) => ids.has(id));
}

function createIsOwned(redis: RedisConnection, keys: RedisKeys) {
  const run = defineScript<number>(redis, __dirname, 'owns-partitions');
  return async ({ owner, records }: Batch): Promise<boolean> => {
    const { id } = readOwner(owner);
    const withPushes = records.filter(({ pushes }) => pushes.length > 0);
    let isOwned = true;
    const check = async (shard: number, ofShard: readonly PartitionRecords[]) => {
      const numbers = ofShard.map(({ partition }) => partition);
      if ((await run([keys.owners(shard)], [id, ...numbers])) !== 1) isOwned = false;
    };
    await onEachShard(keys.shards, withPushes, numberOf, check, (_, error) => {
      throw error;
    });
    return isOwned;
  };
}

/**
 * Records that Redis knows the owners of all partitions of these shards. Before the call, the caller must end the
 * open transactions of all other workers.
 */
function createNoteOwnersKnown(redis: RedisConnection, keys: RedisKeys) {
  const run = defineScript<number>(redis, __dirname, 'note-owners-known');
  return async (shards: readonly number[]): Promise<void> => {
    await Promise.all(shards.map((shard) => run([keys.ownersKnown(shard)], [])));
  };
}

/**
 * `IDLE` releases only partitions without pushes. `ALL` and `FAILED` release all partitions. After `FAILED`, the next
 * owner of a partition with pushes ends the open transactions of this worker.
 */
export type ReleaseCondition = 'IDLE' | 'ALL' | 'FAILED';

/**
 * @returns for each partition the number of waiting pushes, or the error of the shard; no entry for a partition that
 *   `IDLE` does not release
 */
function createRelease(redis: RedisConnection, keys: RedisKeys) {
  const run = defineScript<number[]>(redis, __dirname, 'release-partitions');
  return async (partitions: readonly number[], id: string, which: ReleaseCondition) => {
    const waiting = new Map<number, number | Error>();
    const release = async (shard: number, ofShard: readonly number[]) => {
      const names = [keys.owners(shard), ...ofShard.map(keys.partition)];
      const left = await run(names, [id, which, ...ofShard]);
      for (const [n, partition] of ofShard.entries()) {
        const pushes = left[n] ?? -1;
        if (pushes >= 0) waiting.set(partition, pushes);
      }
    };
    const itself = (partition: number) => partition;
    await onEachShard(keys.shards, partitions, itself, release, (partition, error) =>
      waiting.set(partition, error),
    );
    return waiting;
  };
}

/** A partition of the calling worker is due if the first push has waited longer than this many milliseconds. */
const OVERDUE = 300;
/**
 * A partition of another worker is due if the first push has waited longer than this many milliseconds. A partition
 * with pushes but without an owner is due at once.
 */
const OVERDUE_OF_OTHERS = 2_000;
/** Minimum milliseconds between two checks of all partitions of a shard, by any workers. */
const SWEEP_ALL_EVERY = 400;

/**
 * Finds partitions that need a worker. At most once per SWEEP_ALL_EVERY, a call checks all partitions of the shard.
 * All other calls check only the partitions of the calling worker.
 */
function createFindDue(redis: RedisConnection, keys: RedisKeys) {
  const run = defineScript<number[]>(redis, __dirname, 'find-due-partitions');
  /** @param alive ids of the live workers; empty if unknown */
  return (shard: number, id: string, alive: Iterable<string> = []): Promise<number[]> =>
    run(
      [keys.partitionBytes(shard), keys.owners(shard), keys.sweep(shard)],
      [
        ...[keys.partitionPrefix(shard), TIME_DIGITS, id],
        ...[OVERDUE, OVERDUE_OF_OTHERS, SWEEP_ALL_EVERY],
        ...alive,
      ],
    );
}
