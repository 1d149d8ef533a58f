/** Whether Redis can be used: a replica, or a server at its `maxmemory`, answers PING all the same. */
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import type { RedisKeys } from './keys';
import { isRedisReady, type RedisConnection } from './redis';

/** Milliseconds that the key of a probe lives. */
const TRACE = 10_000;

/** Writes something small. @throws the connection's error where Redis takes none, at `maxmemory` too */
export async function probeWrite(redis: RedisConnection, keys: RedisKeys): Promise<void> {
  await redis.set(keys.probe, '1', 'PX', TRACE);
}

/**
 * Writes nothing: a replica rejects it, a server at its `maxmemory` does it.
 *
 * @throws the connection's error where Redis is away or no primary
 */
export async function probePrimary(redis: RedisConnection, keys: RedisKeys): Promise<void> {
  await redis.del(`${keys.probe}:nothing`);
}

export interface EchoSources {
  /** For commands: it leaves a replica by itself, once it has tried to write. */
  readonly redis: RedisConnection;
  readonly subscriber: RedisConnection;
  readonly keys: RedisKeys;
  /** On which this process listens. */
  readonly channel: string;
  readonly logger: Logger;
}

/** Milliseconds between two calls. */
const CALL_EVERY = 1_000;
/** Calls in a row that may go unheard: a process that is held up hears one late. */
const MAX_UNHEARD = 2;
/** A message with nothing in it: no reply, no ring. */
export const CALL = '[]';

/**
 * Calls this process's own channel where replies or rings are published, and makes the subscriber's connection
 * anew when it does not hear: it may have stayed with a server that passes nothing on any more (an
 * old primary that follows nobody), and no command of its own would tell. One that is a replica and
 * follows passes on what it should, and is kept.
 */
export function watchEcho({ redis, subscriber, keys, channel, logger }: EchoSources): PollLoop {
  let unheard = 0;
  const startAnew = () => {
    unheard = 0;
  };
  subscriber.on('message', startAnew);
  // What it could not hear while it was away says nothing of the connection that it has now.
  subscriber.on('ready', startAnew);
  const call = async () => {
    if (unheard >= MAX_UNHEARD && isRedisReady(subscriber)) {
      logger.warn({ unheard }, 'what is published does not arrive, subscribing anew');
      subscriber.disconnect(true);
      unheard = 0;
    }
    await probePrimary(redis, keys);
    await redis.publish(channel, CALL);
    unheard += 1;
  };
  return startPollLoop(call, CALL_EVERY, (error) => {
    logger.debug({ error: String(error) }, 'no echo could be asked for');
  });
}
