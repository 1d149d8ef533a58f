/** The lanes of a test, in the time of its Redis. */
import type { Redis } from 'ioredis';
import type { RedisKeys } from '../../src/queue/keys';
import { createLanes, type LaneLimits, type Lanes } from '../../src/queue/lanes';
import { createRedisTime } from '../../src/queue/redis-time';

export function openLanes(redis: Redis, keys: RedisKeys, limits: LaneLimits): Lanes {
  return createLanes(
    redis,
    keys,
    limits,
    createRedisTime(redis, () => performance.now()),
  );
}
