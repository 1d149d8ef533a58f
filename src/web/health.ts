/** Whether this process may get requests: it needs the database, and both of its ways to the queue. */
import type { Connection } from 'mongoose';
import { createHealthProbe, type HealthProbe } from '../http/health';
import type { RedisKeys } from '../queue/keys';
import { probePrimary } from '../queue/probe';
import { isRedisReady, type RedisConnection } from '../queue/redis';
import { isMongoReady, pingMongo } from '../storage/mongo';

/** What a process needs of its servers. */
export interface HealthServers {
  readonly mongo: Connection;
  readonly redis: RedisConnection;
  /** Hears the replies. */
  readonly subscriber: RedisConnection;
  readonly keys: RedisKeys;
}

export function openHealth({ mongo, redis, subscriber, keys }: HealthServers): HealthProbe {
  return createHealthProbe({
    isDatabaseUp: () => isMongoReady(mongo),
    isQueueUp: () => isRedisReady(redis) && isRedisReady(subscriber),
    pingDatabase: () => pingMongo(mongo),
    // A full Redis is not this process' fault: callers are to hear of it, from a process that is there.
    pingQueue: () => probePrimary(redis, keys),
  });
}
