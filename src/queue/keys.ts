/** The name of everything that lives in Redis. One hash tag, so that a Redis Cluster can host it. */

export interface RedisKeys {
  /** BullMQ's prefix. */
  readonly bullPrefix: string;
  partition(partition: number): string;
  /** By partition, the bytes of its pushes; none of an empty one. */
  readonly partitionBytes: string;
  /** By partition, its owner and the owners that this one fenced; see owner.ts. */
  readonly owners: string;
  /** Channel on which one web process listens for replies. */
  replies(ingressId: string): string;
  /** What each signature of a client was first used for, and when; by minute of its timestamp. */
  signatures(clientId: string, minute: number): string;
  rate(clientId: string): string;
  /** How much room is left for rejections that anybody may have caused. */
  rejections(clientId: string): string;
  workerNumber(number: number): string;
  /** By process, what it told last of itself; and when it did. */
  readonly processes: string;
  readonly processHeartbeats: string;
  /** Written to see whether Redis takes writes. */
  readonly probe: string;
}

/**
 * Of what travels through partitions: the form of an item (push.ts), and how many partitions there are.
 * Processes of two formats share neither partitions nor jobs. While one replaces the other, both work,
 * but between them nothing keeps the order of a key but its sourceUpdatedAt; see docs/operations.md,
 * "Upgrading".
 */
const FORMAT = 3;

export const PARTITION_JOB_QUEUE = `partition-jobs-${FORMAT}`;

/** @param namespace keeps deployments (and tests) that share a Redis apart (REDIS_NAMESPACE) */
export function createRedisKeys(namespace: string): RedisKeys {
  const tag = `{${namespace}}`;
  return {
    bullPrefix: tag,
    partition: (partition) => `${tag}:partition:${FORMAT}:${partition}`,
    partitionBytes: `${tag}:partition-bytes:${FORMAT}`,
    owners: `${tag}:owners:${FORMAT}`,
    replies: (ingressId) => `${tag}:replies:${ingressId}`,
    signatures: (clientId, minute) => `${tag}:first-uses:${minute}:${clientId}`,
    rate: (clientId) => `${tag}:rate:${clientId}`,
    rejections: (clientId) => `${tag}:rejections:${clientId}`,
    workerNumber: (number) => `${tag}:worker:${number}`,
    processes: `${tag}:processes`,
    processHeartbeats: `${tag}:process-heartbeats`,
    probe: `${tag}:probe`,
  };
}
