/** A look into the queue for the length of one command. */
import { connectFailFast, redisReady } from '../../src/queue/redis';
import { readQueueKeys } from '../../src/queue/shard-count';
import { createQueueView, type QueueView } from '../../src/queue/view';
import { createLogger } from '../../src/runtime/logger';
import { CommandFailure } from './failure';
import type { Tool } from './tool';

/** @throws CommandFailure where Redis cannot be reached, or fails on the way */
export async function withQueueView<T>(
  { settings }: Tool,
  look: (view: QueueView) => Promise<T>,
): Promise<T> {
  const { REDIS_URL, REDIS_NAMESPACE, REDIS_SHARDS } = settings.queue();
  // What goes wrong stands in the failure.
  const redis = connectFailFast(REDIS_URL, createLogger('matterctl', 'silent'));
  try {
    await redisReady(redis);
    const keys = await readQueueKeys(redis, REDIS_NAMESPACE, REDIS_SHARDS);
    const view = createQueueView(redis, keys);
    return await look(view).finally(view.close);
  } catch (error) {
    throw new CommandFailure(error instanceof Error ? error.message : String(error));
  } finally {
    redis.disconnect();
  }
}
