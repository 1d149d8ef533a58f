/** Whether this process may get requests: it needs the database, and both of its ways to the queue. */
import type { Redis } from 'ioredis';
import type { Connection } from 'mongoose';
import { createHealthProbe, type HealthProbe } from '../ingress/health';
import { isMongoReady, pingMongo } from '../mongo';
import { isRedisReady } from '../queue/redis';

/** @param subscriber hears the replies */
export function openHealth(mongo: Connection, redis: Redis, subscriber: Redis): HealthProbe {
  return createHealthProbe({
    isDatabaseUp: () => isMongoReady(mongo),
    isQueueUp: () => isRedisReady(redis) && isRedisReady(subscriber),
    pingDatabase: () => pingMongo(mongo),
    pingQueue: () => redis.ping(),
  });
}
