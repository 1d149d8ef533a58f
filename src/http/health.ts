/** Pings MongoDB and Redis, and decides whether this process can serve requests. */
import type { Connection } from 'mongoose';
import { createReach, type Reach } from '../concurrency/reach';
import type { Lifecycle } from '../infra/lifecycle';
import type { Logger } from '../infra/logger';
import { isMongoReady, pingMongo, probeMongoWrite } from '../infra/mongo-availability';
import { outagesOf, type ServerName } from '../infra/outages';
import { isRedisReady } from '../infra/redis/commands';
import type { RedisConnection } from '../infra/redis/connect';
import { PushError } from '../protocol/errors';
import { databaseCall, queueCall } from '../pushes/pushes';
import type { RedisKeys } from '../queue/keys';
import { type PauseWatch, probePrimary } from '../queue/probe';
import type { SchemaWatch } from '../storage/schema';

/** Maximum milliseconds for a ping of a health check. */
const PING_TIMEOUT = 2_000;
/** Milliseconds for which a ping result is reused. */
const CACHE_TTL = 250;

const PAUSED = new Error('the queue of partition jobs is paused: run matterctl queue unpause');

export interface HealthProbe {
  /** @throws PushError SHUTTING_DOWN, DATABASE_UNAVAILABLE, DATABASE_NOT_PREPARED or QUEUE_UNAVAILABLE */
  ready(): Promise<{ status: 'ready' }>;
  /** Makes `ready` fail, so that load balancers choose other processes. This process still accepts requests. */
  leave(): void;
  isLeaving(): boolean;
  /** Makes `check` fail, so that this process rejects every new signed request. */
  drain(): void;
  /** Checks the last known state; sends no ping. @throws the errors of `ready` */
  check(): void;
  /** Like `check`, but a paused queue is also an error. @throws the errors of `ready` */
  checkPushes(): void;
}

export interface HealthSources {
  readonly isDatabaseUp: () => boolean;
  readonly isQueueUp: () => boolean;
  /** Whether MongoDB has all indexes of the service. */
  readonly isPrepared: () => boolean;
  /** Whether an operator has paused the BullMQ queue. */
  readonly isQueuePaused: () => boolean;
  readonly probeDatabase: () => Promise<unknown>;
  readonly probeQueue: () => Promise<unknown>;
}

export function createHealthProbe(sources: HealthSources): HealthProbe {
  let leaving = false;
  let draining = false;
  const check = () => {
    if (draining) throw new PushError('SHUTTING_DOWN');
    if (!sources.isDatabaseUp()) throw new PushError('DATABASE_UNAVAILABLE');
    if (!sources.isPrepared()) throw new PushError('DATABASE_NOT_PREPARED');
    if (!sources.isQueueUp()) throw new PushError('QUEUE_UNAVAILABLE');
  };
  const checkPushes = () => {
    check();
    if (sources.isQueuePaused()) throw new PushError('QUEUE_UNAVAILABLE', { cause: PAUSED });
  };
  const ping = async () => {
    await Promise.all([
      databaseCall(sources.probeDatabase(), PING_TIMEOUT),
      queueCall(sources.probeQueue(), PING_TIMEOUT),
    ]);
  };
  let last: { readonly since: number; readonly outcome: Promise<void> } | undefined;
  const pingThrottled = (): Promise<void> => {
    const now = performance.now();
    if (!last || now - last.since >= CACHE_TTL) last = { since: now, outcome: ping() };
    return last.outcome;
  };
  return {
    check,
    checkPushes,
    leave: () => {
      leaving = true;
    },
    isLeaving: () => leaving,
    drain: () => {
      draining = true;
    },
    ready: async () => {
      if (leaving) throw new PushError('SHUTTING_DOWN');
      checkPushes();
      await pingThrottled();
      return { status: 'ready' };
    },
  };
}

interface Servers {
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly mongo: Connection;
  readonly schema: SchemaWatch;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly queuePause: PauseWatch;
}

/**
 * Watches MongoDB and Redis, and ends the requests that wait for an unreachable server.
 *
 * @param subscriber the Redis connection that receives replies
 * @param endWaiting tries to answer the requests that wait for replies; called while Redis is unreachable
 */
export function createHealth(
  servers: Servers,
  subscriber: RedisConnection,
  endWaiting: () => Promise<void>,
): { readonly database: Reach; readonly health: HealthProbe } {
  const { mongo, schema, redis, keys, queuePause } = servers;
  const database = createServerReach(servers, 'mongodb', () => pingMongo(mongo));
  // Redis accepts this probe even if its memory is full.
  const probeQueue = () => probePrimary(redis, keys);
  const queue = createServerReach(servers, 'redis', probeQueue, endWaiting);
  const health = createHealthProbe({
    isDatabaseUp: () => isMongoReady(mongo) && !database.isLost(),
    isQueueUp: () => isRedisReady(redis) && isRedisReady(subscriber) && !queue.isLost(),
    isPrepared: schema.isPrepared,
    isQueuePaused: queuePause.isPaused,
    probeDatabase: () => probeMongoWrite(mongo),
    probeQueue,
  });
  return { database, health };
}

function createServerReach(
  { logger, lifecycle }: Servers,
  server: ServerName,
  ping: () => Promise<void>,
  whileLost?: () => Promise<void>,
): Reach {
  const outages = outagesOf(logger);
  const reach = createReach({
    ping,
    onLost: (error) => {
      outages.lost(server, 'pings', error);
      logger.warn({ server, error }, 'server unreachable, answering the waiting requests');
    },
    onBack: () => outages.back(server, 'pings'),
    whileLost,
    onError: (error) =>
      logger.debug(
        { server, error: String(error) },
        'could not answer the waiting requests, retrying',
      ),
  });
  return lifecycle.run(`pings of ${server}`, reach);
}
