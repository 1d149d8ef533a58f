/** Which of its two servers a web process reaches: what waits for a server that it lost is answered when it notices. */
import type { Connection } from 'mongoose';
import { type Reach, watchReach } from '../concurrency/reach';
import type { RedisKeys } from '../queue/keys';
import { probePrimary } from '../queue/probe';
import type { RedisConnection } from '../queue/redis';
import type { Lifecycle } from '../runtime/lifecycle';
import type { Logger } from '../runtime/logger';
import { outagesOf, type ServerName } from '../runtime/outages';
import { pingMongo } from '../storage/mongo';

export interface Reaches {
  readonly database: Reach;
  readonly queue: Reach;
}

export interface ReachServers {
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  readonly mongo: Connection;
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
}

/** @param endWaiting finalizes the pushes that wait for a reply: called again and again while the queue is lost */
export function openReaches(
  { logger, lifecycle, mongo, redis, keys }: ReachServers,
  endWaiting: () => Promise<void>,
): Reaches {
  const outages = outagesOf(logger);
  const open = (server: ServerName, ping: () => Promise<void>, whileLost?: () => Promise<void>) => {
    const reach = watchReach({
      ping,
      onLost: (error) => {
        outages.lost(server, 'pings', error);
        logger.warn({ server, error }, 'server not reached, requests that wait for it are ended');
      },
      onBack: () => outages.back(server, 'pings'),
      ...(whileLost && { whileLost }),
      onError: (error) => logger.debug({ server, error: String(error) }, 'ping not judged'),
    });
    lifecycle.onStop(`pings of ${server}`, () => reach.stop());
    return reach;
  };
  return {
    database: open('mongodb', () => pingMongo(mongo)),
    queue: open('redis', () => probePrimary(redis, keys), endWaiting),
  };
}
