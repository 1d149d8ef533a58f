/** Reconnects the subscriber of this process if the subscriber no longer receives messages. */
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import { isRedisReady } from '../infra/redis/commands';
import type { RedisConnection } from '../infra/redis/connect';
import type { RedisKeys } from './keys';
import { probePrimary } from './probe';

/** Minimum milliseconds between two test messages. */
const TEST_INTERVAL = 1_000;
/** Number of missing test messages after which the subscriber reconnects. */
const MAX_MISSING = 2;
/** A web process reads this message as an empty list of replies. Workers ignore this message. */
export const TEST_MESSAGE = '[]';

interface EchoSources {
  /** Publishes the test messages. */
  readonly redis: RedisConnection;
  readonly subscriber: RedisConnection;
  readonly keys: RedisKeys;
  /** The channel to which `subscriber` is subscribed. */
  readonly channel: string;
  readonly logger: Logger;
}

/** After a failover, the subscriber can still be connected to the former primary and then receives no messages. */
export function createEchoCheck({
  redis,
  subscriber,
  keys,
  channel,
  logger,
}: EchoSources): PollLoop {
  let missing = 0;
  const reset = () => {
    missing = 0;
  };
  subscriber.on('message', reset);
  subscriber.on('ready', reset);
  const test = async () => {
    if (missing >= MAX_MISSING && isRedisReady(subscriber)) {
      logger.warn({ missing }, 'published messages are not received, resubscribing');
      subscriber.disconnect(true);
      reset();
    }
    await probePrimary(redis, keys);
    await redis.publish(channel, TEST_MESSAGE);
    missing += 1;
  };
  return startPollLoop(test, TEST_INTERVAL, (error) => {
    logger.debug({ error: String(error) }, 'test message not published, retrying');
  });
}
