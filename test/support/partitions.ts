/** The partitions of a test, in the time of its Redis. */
import { groupOf } from '../../src/domain/matter';
import type { RedisConnection } from '../../src/infra/redis/connect';
import { createRedisTime } from '../../src/infra/redis/time';
import type { PartitionLimits } from '../../src/queue/commands/append-pushes';
import { createPartitions, type Partitions } from '../../src/queue/commands/partitions';
import { DEFAULT_PARTITIONS, partitionOf, type RedisKeys } from '../../src/queue/keys';
import { type Batch, ownerText } from '../../src/queue/records';

export function openPartitions(
  redis: RedisConnection,
  keys: RedisKeys,
  limits: PartitionLimits,
): Partitions {
  return createPartitions(redis, keys, limits, createRedisTime(redis));
}

/** How many a queue with one shard has. */
export const PARTITIONS = DEFAULT_PARTITIONS;

/** The partition of a key in a queue with one shard. */
export const partitionOfKey = (systemCode: string, externalId: string): number =>
  partitionOf(groupOf(systemCode, externalId), { shards: 1, partitions: PARTITIONS });

/** A worker as the owner of partitions. @param id letters and digits */
export const ownerCalled = (id: string): string =>
  ownerText({ id, sessions: [`session of ${id}`.replaceAll(' ', '-')], name: id });

/** What a worker reads that has just been given the jobs of some partitions. */
export function take(
  partitions: Partitions,
  numbers: readonly number[],
  id: string,
  most = 256,
): Promise<Batch> {
  const wanted = numbers.map((partition) => ({ partition, isTaken: true }));
  return partitions.read(wanted, { owner: ownerCalled(id), session: id, limit: most });
}

/** And what it reads again of those that it holds. */
export function readHeld(
  partitions: Partitions,
  numbers: readonly number[],
  id: string,
): Promise<Batch> {
  const wanted = numbers.map((partition) => ({ partition, isTaken: false }));
  return partitions.read(wanted, { owner: ownerCalled(id), session: id, limit: 256 });
}
