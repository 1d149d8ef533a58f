/** The partitions of a test, in the time of its Redis. */
import { groupOf } from '../../src/domain/group';
import type { RedisKeys } from '../../src/queue/keys';
import { ownerText } from '../../src/queue/owner';
import type { PartitionLimits } from '../../src/queue/partition-commands';
import { partitionOf, placeOf, startPartitioning } from '../../src/queue/partitioning';
import { type Batch, createPartitions, type Partitions } from '../../src/queue/partitions';
import type { RedisConnection } from '../../src/queue/redis';
import { createRedisTime } from '../../src/queue/redis-time';

export function openPartitions(
  redis: RedisConnection,
  keys: RedisKeys,
  limits: PartitionLimits,
): Partitions {
  return createPartitions(
    redis,
    keys,
    limits,
    createRedisTime(redis, () => performance.now()),
  );
}

/** How many there are at first, with one shard. */
export const PARTITIONS = startPartitioning(1).count;

/** The partition of a key, as long as nobody has asked for more of them. */
export const partitionOfKey = (systemCode: string, externalId: string): number =>
  partitionOf(placeOf(groupOf(systemCode, externalId), 1), startPartitioning(1), 1);

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
  return partitions.read(wanted, { owner: ownerCalled(id), session: id, most });
}

/** And what it reads again of those that it holds. */
export function readHeld(
  partitions: Partitions,
  numbers: readonly number[],
  id: string,
): Promise<Batch> {
  const wanted = numbers.map((partition) => ({ partition, isTaken: false }));
  return partitions.read(wanted, { owner: ownerCalled(id), session: id, most: 256 });
}
