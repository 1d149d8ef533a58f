/** Opens the queue for one command, and closes it afterwards. */

import { createLogger } from '../../src/infra/logger';
import { connectFailFast, type RedisConnection, redisReady } from '../../src/infra/redis/connect';
import { readQueueKeys } from '../../src/queue/commands/agreements';
import { createJobQueues, createQueueView, type QueueView } from '../../src/queue/inspect/view';
import type { RedisKeys } from '../../src/queue/keys';
import { isQueuePaused } from '../../src/queue/probe';
import { CommandFailure } from './failure';
import type { Tool } from './tool';

/** Runs `look` with a view of the queue. @throws CommandFailure if Redis cannot be reached, or fails meanwhile */
export function withQueueView<T>(tool: Tool, look: (view: QueueView) => Promise<T>): Promise<T> {
  return withQueue(tool, (redis, keys) => {
    const view = createQueueView(redis, keys);
    return look(view).finally(view.close);
  });
}

/**
 * Ends a pause of the queue that an operator has made with BullMQ.
 *
 * @returns whether the queue was paused
 * @throws CommandFailure if Redis cannot be reached, or fails meanwhile
 */
export function resumeJobQueues(tool: Tool): Promise<boolean> {
  return withQueue(tool, async (redis, keys) => {
    const wasPaused = await isQueuePaused(redis, keys);
    const queues = createJobQueues(redis, keys);
    await Promise.all(queues.map((queue) => queue.resume().finally(() => queue.close())));
    return wasPaused;
  });
}

async function withQueue<T>(
  { settings }: Tool,
  work: (redis: RedisConnection, keys: RedisKeys) => Promise<T>,
): Promise<T> {
  const { REDIS_URL, REDIS_NAMESPACE, REDIS_SHARDS, REDIS_PARTITIONS } = settings.queue();
  const assumed = { shards: REDIS_SHARDS, partitions: REDIS_PARTITIONS };
  // No log, because the failure of the command states the error.
  const redis = connectFailFast(REDIS_URL, createLogger('matterctl', 'silent'));
  try {
    await redisReady(redis);
    const keys = await readQueueKeys(redis, REDIS_NAMESPACE, assumed);
    return await work(redis, keys);
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error));
  } finally {
    redis.disconnect();
  }
}
