/**
 * The name of everything that lives in Redis. What scripts touch together has one hash tag: a shard of the
 * queue its own, all else the namespace's.
 */
import { shardOf } from './partitioning';

export interface RedisKeys {
  /** Shards of the queue (REDIS_SHARDS). */
  readonly shards: number;
  /** BullMQ's prefix for the partition jobs of a shard. */
  bullPrefix(shard: number): string;
  partition(partition: number): string;
  /** The same without its number. */
  partitionPrefix(shard: number): string;
  /** By partition, the bytes of its pushes; none of an empty one. */
  partitionBytes(shard: number): string;
  /** By partition, the worker that holds it and the owners that this one fenced; see owner.ts. */
  owners(shard: number): string;
  /** There once Redis knows the owners of partitions: not if it is new, or came back empty. */
  ownersKnown(shard: number): string;
  /** Which partitions take pushes: see partitioning.ts; absent as long as nobody asked for more. */
  partitioning(shard: number): string;
  /** Partitions that take no pushes any more and still hold some. */
  draining(shard: number): string;
  /** There while a worker need not look after what others hold. */
  sweep(shard: number): string;
  /** Channel on which a worker hears that a partition that it holds has pushes; its id comes behind it. */
  readonly rings: string;
  /** By worker, how many partitions it holds; and when it said so. */
  readonly workers: string;
  readonly workerHeartbeats: string;
  /** By worker, since when the database has answered all of its pings, and when it answered last. */
  readonly workerReach: string;
  /** Channel on which one web process listens for replies. */
  replies(ingressId: string): string;
  /** What each signature of a client was first used for, and when; by minute of its timestamp. */
  signatures(clientId: string, minute: number): string;
  /** @param of a client id, or that and the id of its query key with a blank between them */
  rate(of: string): string;
  /** How much room is left for rejections that anybody may have caused. */
  rejections(clientId: string): string;
  workerNumber(number: number): string;
  /** By process, what it told last of itself; and when it did. */
  readonly processes: string;
  readonly processHeartbeats: string;
  /** Written to see whether Redis takes writes. */
  readonly probe: string;
  /** How many shards the queue was made with. */
  readonly shardCount: string;
  /** The database that the namespace belongs to while processes run. */
  readonly database: string;
}

/**
 * Of what travels through partitions: the form of an item (push.ts), and who may read a partition.
 * Processes of two formats share neither partitions nor jobs, and their workers do not count each other.
 * While one replaces the other, both work, but between them nothing keeps the order of a key but its
 * sourceUpdatedAt; see docs/operations.md, "Upgrading".
 */
const FORMAT = 4;

export const PARTITION_JOB_QUEUE = `partition-jobs-${FORMAT}`;

/**
 * @param namespace keeps deployments (and tests) that share a Redis apart (REDIS_NAMESPACE)
 * @param shards of the queue (REDIS_SHARDS)
 */
export function createRedisKeys(namespace: string, shards = 1): RedisKeys {
  const tag = `{${namespace}}`;
  const tagOf = (shard: number) => (shards === 1 ? tag : `{${namespace}:${shard}}`);
  const partitionPrefix = (shard: number) => `${tagOf(shard)}:partition:${FORMAT}:`;
  return {
    shards,
    bullPrefix: tagOf,
    partition: (partition) => partitionPrefix(shardOf(partition, shards)) + partition,
    partitionPrefix,
    partitionBytes: (shard) => `${tagOf(shard)}:partition-bytes:${FORMAT}`,
    owners: (shard) => `${tagOf(shard)}:owners:${FORMAT}`,
    ownersKnown: (shard) => `${tagOf(shard)}:known-owners:${FORMAT}`,
    partitioning: (shard) => `${tagOf(shard)}:partitioning:${FORMAT}`,
    draining: (shard) => `${tagOf(shard)}:draining:${FORMAT}`,
    sweep: (shard) => `${tagOf(shard)}:sweep:${FORMAT}`,
    rings: `${tag}:rings:`,
    workers: `${tag}:workers:${FORMAT}`,
    workerHeartbeats: `${tag}:worker-heartbeats:${FORMAT}`,
    workerReach: `${tag}:worker-reach:${FORMAT}`,
    replies: (ingressId) => `${tag}:replies:${ingressId}`,
    signatures: (clientId, minute) => `${tag}:first-uses:${minute}:${clientId}`,
    rate: (of) => `${tag}:rate:${of}`,
    rejections: (clientId) => `${tag}:rejections:${clientId}`,
    workerNumber: (number) => `${tag}:worker:${number}`,
    processes: `${tag}:processes`,
    processHeartbeats: `${tag}:process-heartbeats`,
    probe: `${tag}:probe`,
    shardCount: `${tag}:shards`,
    database: `${tag}:database`,
  };
}
