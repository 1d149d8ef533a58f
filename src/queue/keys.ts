/**
 * The names of all keys and channels in Redis. In a Redis Cluster, all keys of one script must have the same hash tag.
 */
import { crc32 } from 'node:zlib';

/** All processes of a namespace must have the same layout (commands/agreements.ts). */
export interface QueueLayout {
  /** REDIS_SHARDS */
  readonly shards: number;
  /** Partitions of each shard: REDIS_PARTITIONS. */
  readonly partitions: number;
}

/** @returns the partition of a group (all pushes of one matter) */
export function partitionOf(group: string, { shards, partitions }: QueueLayout): number {
  const hash = crc32(group);
  return (Math.floor(hash / shards) % partitions) * shards + (hash % shards);
}

export const shardOf = (partition: number, shards: number): number => partition % shards;

export const partitionsOf = (shard: number, { shards, partitions }: QueueLayout): number[] =>
  Array.from({ length: partitions }, (_, index) => index * shards + shard);

/** Calls `run` once for each shard of `items`. @param onFailed called for each item of a shard whose `run` failed */
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

export const layoutText = ({ shards, partitions }: QueueLayout): string =>
  `${shards} ${partitions}`;

/** Version of the stored formats (records.ts). Before you change this number, read docs/runbook.md, "Upgrading". */
const FORMAT = 6;

/** Default partitions of each shard (docs/scaling.md). */
export const DEFAULT_PARTITIONS = 64;

export const PARTITION_JOB_QUEUE = `partition-jobs-${FORMAT}`;

export type RedisKeys = ReturnType<typeof createRedisKeys>;

/** @param namespace separates deployments and tests that share a Redis server (REDIS_NAMESPACE) */
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
    partitionPrefix,
    /** By partition: the bytes of all pushes. An empty partition has no entry. */
    partitionBytes: (shard: number) => `${tagOf(shard)}:partition-bytes:${FORMAT}`,
    /** By partition: pushes and bytes of each client (commands/client-tally.lua). */
    partitionClients: (shard: number) => `${tagOf(shard)}:partition-clients:${FORMAT}`,
    /** By partition: the owner, then earlier owners (`ownerText` in records.ts). */
    owners: (shard: number) => `${tagOf(shard)}:owners:${FORMAT}`,
    /** Exists if Redis knows the owners of all partitions of the shard. A new or emptied Redis lacks this key. */
    ownersKnown: (shard: number) => `${tagOf(shard)}:known-owners:${FORMAT}`,
    /** Exists for a short time after a worker has checked all partitions (commands/find-due-partitions.lua). */
    sweep: (shard: number) => `${tagOf(shard)}:sweep:${FORMAT}`,
    /** Prefix of the channels for wake-up messages to workers. */
    wakeUpPrefix: `${tag}:rings:`,
    /** By worker id: the number of owned partitions. Contains only workers that take partitions. */
    workers: `${tag}:workers:${FORMAT}`,
    /** By worker id: the worker's last report about the database (report-reach.lua). */
    workerReach: `${tag}:worker-reach:${FORMAT}`,
    replies: (replyTo: string) => `${tag}:replies:${replyTo}`,
    /** By signature: the first request with this signature (`pushes/admission.lua`). */
    signatures: (clientId: string, minute: number) => `${tag}:first-uses:${minute}:${clientId}`,
    /** `of`: the client id; or `<client id> <key id>` for a query key. */
    rate: (of: string) => `${tag}:rate:${of}`,
    workerNumber: (number: number) => `${tag}:worker:${number}`,
    /** By process: the record of the last heartbeat (heartbeat.ts). */
    processes: `${tag}:processes`,
    processHeartbeats: `${tag}:process-heartbeats`,
    probe: `${tag}:probe`,
    layout: `${tag}:layout`,
    /** The database that the running processes of the namespace use (commands/agreements.ts). */
    database: `${tag}:database`,
  };
}
