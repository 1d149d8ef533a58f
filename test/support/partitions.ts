/** The partitions of a test, in the time of its Redis. */

import type { RedisKeys } from '../../src/queue/keys';
import {
  createPartitions,
  type PartitionLimits,
  type Partitions,
} from '../../src/queue/partitions';
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
