import { createLogger } from '../../../src/infra/logger';
import { connectFailFast } from '../../../src/infra/redis/connect';
import { readQueueKeys } from '../../../src/queue/commands/agreements';
import { RedisStatusReader } from '../../../src/status/redis-status';
import type { QueueSettings } from '../tool';

/** Opens a connection to Redis for reads of the status; `close` ends it. */
export function openRedisStatus({
  REDIS_URL,
  REDIS_NAMESPACE,
  REDIS_SHARDS: shards,
  REDIS_PARTITIONS: partitions,
}: QueueSettings) {
  // No log, because the screen shows the errors.
  const redis = connectFailFast(REDIS_URL, createLogger('matterctl', 'silent'));
  const look = new RedisStatusReader(redis, () =>
    readQueueKeys(redis, REDIS_NAMESPACE, { shards, partitions }),
  );
  return {
    look: () => look.look(),
    close: async () => {
      await look.close();
      redis.disconnect();
    },
  };
}
