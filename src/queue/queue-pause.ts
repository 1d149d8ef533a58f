/**
 * Whether somebody has paused the queue of partition jobs with BullMQ itself (its API, or a dashboard). No worker
 * gets a job then, and nothing in the service pauses it: a client is paused in the directory.
 */
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import type { Logger } from '../runtime/logger';
import { PARTITION_JOB_QUEUE, type RedisKeys } from './keys';
import type { RedisConnection } from './redis';

const LOOK_EVERY = 1_000;

/** What undoes it. */
export const UNPAUSE = 'matterctl queue unpause';

export interface PauseWatch extends PollLoop {
  /** As it was at the last look. */
  isPaused(): boolean;
}

/** Of any shard. */
export async function isQueuePaused(redis: RedisConnection, keys: RedisKeys): Promise<boolean> {
  const paused = await Promise.all(
    Array.from({ length: keys.shards }, (_, shard) =>
      redis.hexists(`${keys.bullPrefix(shard)}:${PARTITION_JOB_QUEUE}:meta`, 'paused'),
    ),
  );
  return paused.includes(1);
}

/** Looks again and again until it is stopped; the log has a line where a pause begins and one where it ends. */
export function watchQueuePause(
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
    LOOK_EVERY,
    (error) => logger.debug({ error: String(error) }, 'could not read whether the queue is paused'),
  );
  return { isPaused: () => isPaused, stop: loop.stop };
}

const PAUSED = 'the queue of partition jobs was paused with BullMQ: no worker gets a job';
