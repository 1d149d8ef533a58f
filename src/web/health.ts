/** Whether this process may get requests: it needs the database, and both of its ways to the queue. */
import type { Connection } from 'mongoose';
import { createHealthProbe, type HealthProbe } from '../http/health';
import type { RedisKeys } from '../queue/keys';
import { probePrimary } from '../queue/probe';
import type { PauseWatch } from '../queue/queue-pause';
import { isRedisReady, type RedisConnection } from '../queue/redis';
import { isMongoReady, probeMongoWrite } from '../storage/mongo';
import type { SchemaWatch } from '../storage/schema';
import type { Reaches } from './reach';

/** What a process needs of its servers. */
export interface HealthServers {
  readonly mongo: Connection;
  readonly schema: Pick<SchemaWatch, 'isPrepared'>;
  readonly redis: RedisConnection;
  /** Hears the replies. */
  readonly subscriber: RedisConnection;
  readonly keys: RedisKeys;
  readonly reaches: Reaches;
  readonly queuePause: Pick<PauseWatch, 'isPaused'>;
}

export function openHealth(servers: HealthServers): HealthProbe {
  const { mongo, schema, redis, subscriber, keys, reaches, queuePause } = servers;
  return createHealthProbe({
    isDatabaseUp: () => isMongoReady(mongo) && !reaches.database.isLost(),
    isQueueUp: () => isRedisReady(redis) && isRedisReady(subscriber) && !reaches.queue.isLost(),
    isPrepared: schema.isPrepared,
    isQueuePaused: queuePause.isPaused,
    probeDatabase: () => probeMongoWrite(mongo),
    // A full Redis is not this process' fault: callers are to hear of it, from a process that is there.
    probeQueue: () => probePrimary(redis, keys),
  });
}
