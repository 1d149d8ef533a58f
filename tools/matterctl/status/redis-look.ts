/** What Redis tells: how it is, which processes there are, and what waits in the partitions. */

import {
  readProcesses,
  type SeenProcess,
} from '../../../src/observability/processes/read-processes';
import { createRedisKeys, type RedisKeys } from '../../../src/queue/keys';
import { connectFailFast, type RedisConnection } from '../../../src/queue/redis';
import { createQueueView, type PartitionView, type QueueView } from '../../../src/queue/view';
import { createLogger } from '../../../src/runtime/logger';
import type { QueueSettings } from '../tool';

export interface RedisFacts {
  readonly version: string;
  /** `master` or `slave`, in its own words. */
  readonly role: string;
  readonly processes: readonly SeenProcess[];
  readonly partitions: readonly PartitionView[];
}

/** Milliseconds for the connection to come up. */
const TIMEOUT = 2_000;

export class RedisLook {
  readonly #redis: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #view: QueueView;
  #why = 'no answer';

  constructor({ REDIS_URL, REDIS_NAMESPACE, REDIS_SHARDS }: QueueSettings) {
    // What goes wrong stands on the screen.
    this.#redis = connectFailFast(REDIS_URL, createLogger('matterctl', 'silent'));
    this.#keys = createRedisKeys(REDIS_NAMESPACE, REDIS_SHARDS);
    this.#view = createQueueView(this.#redis, this.#keys);
    this.#redis.on('error', (error) => {
      this.#why = error.message;
    });
  }

  /** @throws where Redis cannot be asked now; it may be a moment later */
  async look(): Promise<RedisFacts> {
    await this.#ready();
    const [info, processes, partitions] = await Promise.all([
      this.#redis.info(),
      readProcesses(this.#redis, this.#keys),
      this.#view.partitions(),
    ]);
    const field = (name: string) => info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];
    const version = field('valkey_version') ?? field('redis_version') ?? 'unknown';
    return { version, role: field('role') ?? 'unknown', processes, partitions };
  }

  async close(): Promise<void> {
    await this.#view.close();
    this.#redis.disconnect();
  }

  #ready(): Promise<void> {
    const redis = this.#redis;
    if (redis.status === 'ready') return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(this.#why)), TIMEOUT);
      redis.once('ready', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
