/** What Redis tells: how it is, which processes there are, and what waits in the partitions. */

import {
  readProcesses,
  type SeenProcess,
} from '../../../src/observability/processes/read-processes';
import { createRedisKeys } from '../../../src/queue/keys';
import { connectFailFast } from '../../../src/queue/redis';
import { createQueueView, type PartitionView } from '../../../src/queue/view';
import { createLogger } from '../../../src/runtime/logger';
import type { QueueSettings } from '../tool';

export interface RedisFacts {
  readonly version: string;
  /** `master` or `slave`, in its own words. */
  readonly role: string;
  readonly processes: readonly SeenProcess[];
  readonly partitions: readonly PartitionView[];
}

export interface RedisLook {
  /** @throws where Redis cannot be asked now; it may be a moment later */
  look(): Promise<RedisFacts>;
  close(): Promise<void>;
}

/** Milliseconds for the connection to come up. */
const TIMEOUT = 2_000;

export function openRedisLook({ REDIS_URL, REDIS_NAMESPACE }: QueueSettings): RedisLook {
  // What goes wrong stands on the screen.
  const redis = connectFailFast(REDIS_URL, createLogger('matterctl', 'silent'));
  const keys = createRedisKeys(REDIS_NAMESPACE);
  const view = createQueueView(redis, keys);
  let why = 'no answer';
  redis.on('error', (error) => {
    why = error.message;
  });
  const ready = () =>
    new Promise<void>((resolve, reject) => {
      if (redis.status === 'ready') return resolve();
      const timer = setTimeout(() => reject(new Error(why)), TIMEOUT);
      redis.once('ready', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  return {
    look: async () => {
      await ready();
      const [info, processes, partitions] = await Promise.all([
        redis.info(),
        readProcesses(redis, keys),
        view.partitions(),
      ]);
      const field = (name: string) => info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];
      const version = field('valkey_version') ?? field('redis_version') ?? 'unknown';
      return { version, role: field('role') ?? 'unknown', processes, partitions };
    },
    close: async () => {
      await view.close();
      redis.disconnect();
    },
  };
}
