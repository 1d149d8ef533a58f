/**
 * The names of all keys and channels in Redis. In a Redis Cluster, all keys of one script must have the same hash tag.
 * The keys of a shard have the tag of this shard. The other keys have the tag of the namespace.
 */
import { crc32 } from 'node:zlib';

/**
 * The number of shards and partitions. All processes of a namespace must have the same layout;
 * commands/agreements.ts checks the layouts.
 */
export interface QueueLayout {
  /** REDIS_SHARDS */
  readonly shards: number;
  /** Partitions of each shard: REDIS_PARTITIONS. */
  readonly partitions: number;
}

/** @returns the partition of a group; the number of a partition is unique over all shards */
export function partitionOf(group: string, { shards, partitions }: QueueLayout): number {
  const hash = crc32(group);
  return (Math.floor(hash / shards) % partitions) * shards + (hash % shards);
}

export const shardOf = (partition: number, shards: number): number => partition % shards;

/** @returns the numbers of all partitions of a shard */
export const partitionsOf = (shard: number, { shards, partitions }: QueueLayout): number[] =>
  Array.from({ length: partitions }, (_, index) => index * shards + shard);

/**
 * Groups items by shard, and runs one command for each shard, because a script can use only one shard. The commands
 * run at the same time. An error of one shard does not affect the other shards.
 *
 * @param onFailed receives each item of a shard that failed, and the error
 */
export async function onEachShard<T>(
  shards: number,
  items: readonly T[],
  partitionOfItem: (item: T) => number,
  run: (shard: number, items: readonly T[]) => Promise<unknown>,
  onFailed: (item: T, error: Error) => void,
): Promise<void> {
  const byShard = new Map<number, T[]>();
  for (const item of items) {
    const shard = shardOf(partitionOfItem(item), shards);
    const ofShard = byShard.get(shard) ?? [];
    ofShard.push(item);
    byShard.set(shard, ofShard);
  }
  await Promise.all(
    Array.from(byShard, ([shard, ofShard]) =>
      run(shard, ofShard).catch((error: Error) => {
        for (const item of ofShard) onFailed(item, error);
      }),
    ),
  );
}

/** The layout as Redis stores it: the number of shards, a blank, and the number of partitions of each shard. */
export const layoutText = ({ shards, partitions }: QueueLayout): string =>
  `${shards} ${partitions}`;

/**
 * Version of the formats of partition items and of owners (records.ts). Processes with different FORMATs share neither
 * partitions nor jobs. During an upgrade to another FORMAT, two workers can process the same matter. Then only
 * `sourceUpdatedAt` keeps the pushes of the matter in order (docs/runbook.md, "Upgrading").
 */
const FORMAT = 6;

/** Default partitions of each shard: enough for the workers that share one Redis server (docs/scaling.md). */
export const DEFAULT_PARTITIONS = 64;

export const PARTITION_JOB_QUEUE = `partition-jobs-${FORMAT}`;

export type RedisKeys = ReturnType<typeof createRedisKeys>;

/**
 * @param namespace separates deployments and tests that share a Redis server (REDIS_NAMESPACE)
 * @param shards of the queue (REDIS_SHARDS)
 * @param partitions of each shard (REDIS_PARTITIONS)
 */
export function createRedisKeys(namespace: string, shards = 1, partitions = DEFAULT_PARTITIONS) {
  const tag = `{${namespace}}`;
  const tagOf = (shard: number) => (shards === 1 ? tag : `{${namespace}:${shard}}`);
  const partitionPrefix = (shard: number) => `${tagOf(shard)}:partition:${FORMAT}:`;
  return {
    shards,
    partitions,
    /** BullMQ's prefix for the partition jobs of a shard. */
    bullPrefix: tagOf,
    partition: (partition: number) => partitionPrefix(shardOf(partition, shards)) + partition,
    /** The key of a partition without the number of the partition. */
    partitionPrefix,
    /** By partition, the bytes of its pushes. An empty partition has no entry. */
    partitionBytes: (shard: number) => `${tagOf(shard)}:partition-bytes:${FORMAT}`,
    /**
     * By partition, the tally: pushes and bytes of each client (commands/client-tally.lua). Processes of an earlier
     * version do not update tallies. Therefore the scripts delete a tally with a wrong number of pushes.
     */
    partitionClients: (shard: number) => `${tagOf(shard)}:partition-clients:${FORMAT}`,
    /**
     * By partition: its owner, then its fenced owners (earlier owners whose transactions can still be open),
     * separated by blanks. Each owner has the form of `ownerText`.
     */
    owners: (shard: number) => `${tagOf(shard)}:owners:${FORMAT}`,
    /** Exists if Redis knows the owners of the partitions. A new or emptied Redis does not have this key. */
    ownersKnown: (shard: number) => `${tagOf(shard)}:known-owners:${FORMAT}`,
    /**
     * Exists for a moment after a worker has begun a sweep of the partitions of all workers, so that no other worker
     * repeats this sweep.
     */
    sweep: (shard: number) => `${tagOf(shard)}:sweep:${FORMAT}`,
    /** Prefix of the channel for wake-up messages to a worker; the id of the worker follows. */
    wakeUpPrefix: `${tag}:rings:`,
    /** By id of each worker that takes partitions: the number of partitions that this worker owns. */
    workers: `${tag}:workers:${FORMAT}`,
    /**
     * By worker: the time since which the database has answered all pings of the worker, and the time of the worker's
     * report (commands/worker-reach.ts).
     */
    workerReach: `${tag}:worker-reach:${FORMAT}`,
    /** Channel on which one web process listens for replies. */
    replies: (replyTo: string) => `${tag}:replies:${replyTo}`,
    /**
     * By signature: the first request with this signature, and the time of the first use (`pushes/admission.lua`). One
     * key for each client and minute of X-Timestamp.
     */
    signatures: (clientId: string, minute: number) => `${tag}:first-uses:${minute}:${clientId}`,
    /**
     * How much of the rate of a client or of a query key is used. For a client, `of` is the client id. For a query key,
     * `of` is the client id, a blank and the key id.
     */
    rate: (of: string) => `${tag}:rate:${of}`,
    workerNumber: (number: number) => `${tag}:worker:${number}`,
    /** By process: the record that its last heartbeat wrote (heartbeat.ts). */
    processes: `${tag}:processes`,
    /** By process, the time of its last heartbeat. */
    processHeartbeats: `${tag}:process-heartbeats`,
    /** The key that `probeWrite` writes, to check whether Redis accepts writes. */
    probe: `${tag}:probe`,
    /** Shards and partitions of the queue: commands/agreements.ts. */
    layout: `${tag}:layout`,
    /** The database that the running processes of the namespace use: commands/agreements.ts. */
    database: `${tag}:database`,
  };
}
