/** Checks whether Redis accepts writes, and whether an operator has paused the partition jobs. */
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import type { RedisConnection } from '../infra/redis/connect';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';

/** Milliseconds until the key of a probe expires. */
const PROBE_EXPIRY = 10_000;

/** @throws the connection's error if Redis rejects writes, for example at `maxmemory` */
export async function probeWrite(redis: RedisConnection, keys: RedisKeys): Promise<void> {
  await redis.set(keys.probe, '1', 'PX', PROBE_EXPIRY);
}

/**
 * Sends a write command without effect. A primary accepts this command even at `maxmemory`.
 *
 * @throws the connection's error if Redis is unavailable or is not a primary
 */
export async function probePrimary(redis: RedisConnection, keys: RedisKeys): Promise<void> {
  await redis.del(`${keys.probe}:nothing`);
}

/** Minimum milliseconds between two checks for a pause. */
const PAUSE_INTERVAL = 1_000;

const PAUSED = 'the queue of partition jobs was paused with BullMQ, so workers get no jobs';
export const UNPAUSE = 'matterctl queue unpause';

export interface PauseWatch extends PollLoop {
  /** The result of the last check. */
  isPaused(): boolean;
}

/** @returns whether the queue of any shard is paused */
export async function isQueuePaused(redis: RedisConnection, keys: RedisKeys): Promise<boolean> {
  const paused = await Promise.all(
    Array.from({ length: keys.shards }, (_, shard) =>
      redis.hexists(`${keys.bullPrefix(shard)}:${PARTITION_JOB_QUEUE}:meta`, 'paused'),
    ),
  );
  return paused.includes(1);
}

/** Checks periodically whether an operator has paused the queue of partition jobs with BullMQ. */
export function createPauseCheck(
  redis: RedisConnection,
  keys: RedisKeys,
  logger: Logger,
): PauseWatch {
  let isPaused = false;
  const loop = startPollLoop(
    async () => {
      const was = isPaused;
      isPaused = await isQueuePaused(redis, keys);
      if (isPaused && !was) logger.error({ run: UNPAUSE }, PAUSED);
      if (was && !isPaused) logger.info('the queue of partition jobs is no longer paused');
    },
    PAUSE_INTERVAL,
    (error) => logger.debug({ error: String(error) }, 'could not read whether the queue is paused'),
  );
  return { isPaused: () => isPaused, stop: loop.stop };
}
