/** A look into the queue for the length of one command. */
import type { RedisKeys } from '../../src/queue/keys';
import { readOnlyJobQueues } from '../../src/queue/partition-job-view';
import { isQueuePaused } from '../../src/queue/queue-pause';
import { connectFailFast, type RedisConnection, redisReady } from '../../src/queue/redis';
import { readQueueKeys } from '../../src/queue/shard-count';
import { createQueueView, type QueueView } from '../../src/queue/view';
import { createLogger } from '../../src/runtime/logger';
import { CommandFailure } from './failure';
import type { Tool } from './tool';

/** @throws CommandFailure where Redis cannot be reached, or fails on the way */
export function withQueueView<T>(tool: Tool, look: (view: QueueView) => Promise<T>): Promise<T> {
  return withQueue(tool, (redis, keys) => {
    const view = createQueueView(redis, keys);
    return look(view).finally(view.close);
  });
}

/**
 * Ends a pause of the queue that was made with BullMQ.
 *
 * @returns whether it was paused
 * @throws CommandFailure where Redis cannot be reached, or fails on the way
 */
export function resumeJobQueues(tool: Tool): Promise<boolean> {
  return withQueue(tool, async (redis, keys) => {
    const wasPaused = await isQueuePaused(redis, keys);
    const queues = readOnlyJobQueues(redis, keys);
    await Promise.all(queues.map((queue) => queue.resume().finally(() => queue.close())));
    return wasPaused;
  });
}

async function withQueue<T>(
  { settings }: Tool,
  work: (redis: RedisConnection, keys: RedisKeys) => Promise<T>,
): Promise<T> {
  const { REDIS_URL, REDIS_NAMESPACE, REDIS_SHARDS } = settings.queue();
  // What goes wrong stands in the failure.
  const redis = connectFailFast(REDIS_URL, createLogger('matterctl', 'silent'));
  try {
    await redisReady(redis);
    const keys = await readQueueKeys(redis, REDIS_NAMESPACE, REDIS_SHARDS);
    return await work(redis, keys);
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error));
  } finally {
    redis.disconnect();
  }
}
