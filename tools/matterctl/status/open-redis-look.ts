import { connectFailFast } from '../../../src/queue/redis';
import { readQueueKeys } from '../../../src/queue/shard-count';
import { createLogger } from '../../../src/runtime/logger';
import { RedisLook } from '../../../src/status/redis-look';
import type { QueueSettings } from '../tool';

/** A look at Redis through a connection of its own, which ends with it. */
export function openRedisLook({ REDIS_URL, REDIS_NAMESPACE, REDIS_SHARDS }: QueueSettings) {
  // What goes wrong stands on the screen.
  const redis = connectFailFast(REDIS_URL, createLogger('matterctl', 'silent'));
  const look = new RedisLook(redis, () => readQueueKeys(redis, REDIS_NAMESPACE, REDIS_SHARDS));
  return {
    look: () => look.look(),
    close: async () => {
      await look.close();
      redis.disconnect();
    },
  };
}
