/** What Redis tells: how it is, which processes there are, and what waits in the partitions. */

import { readProcesses, type SeenProcess } from '../observability/processes/read-processes';
import type { RedisKeys } from '../queue/keys';
import { isQueuePaused, UNPAUSE } from '../queue/queue-pause';
import type { RedisConnection } from '../queue/redis';
import { createQueueView, type PartitionView, type QueueView } from '../queue/view';

export interface RedisFacts {
  readonly version: string;
  /** `master` or `slave`, in its own words. */
  readonly role: string;
  /** Why pushes are rejected although it answers: the queue is paused. */
  readonly problem: string | null;
  readonly processes: readonly SeenProcess[];
  readonly partitions: readonly PartitionView[];
}

/** Milliseconds for the connection to come up. */
const TIMEOUT = 2_000;

export class RedisLook {
  readonly #redis: RedisConnection;
  readonly #readKeys: () => Promise<RedisKeys>;
  #opened: { readonly shards: number; readonly view: QueueView } | undefined;
  #why = 'no answer';

  /**
   * @param redis one that fails fast; it stays when this look is closed
   * @param readKeys asked at every look: between two of them the queue may have got another number of shards
   */
  constructor(redis: RedisConnection, readKeys: () => Promise<RedisKeys>) {
    this.#redis = redis;
    this.#readKeys = readKeys;
    redis.on('error', (error) => {
      this.#why = error.message;
    });
  }

  /** @throws where Redis cannot be asked now; it may be a moment later */
  async look(): Promise<RedisFacts> {
    await this.#ready();
    const keys = await this.#readKeys();
    const view = await this.#viewOf(keys);
    const [info, processes, partitions, isPaused] = await Promise.all([
      this.#redis.info(),
      readProcesses(this.#redis, keys),
      view.partitions(),
      isQueuePaused(this.#redis, keys),
    ]);
    const field = (name: string) => info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];
    const version = field('valkey_version') ?? field('redis_version') ?? 'unknown';
    const problem = isPaused ? `the queue is paused with BullMQ, run ${UNPAUSE}` : null;
    return { version, role: field('role') ?? 'unknown', problem, processes, partitions };
  }

  async close(): Promise<void> {
    await this.#opened?.view.close();
  }

  async #viewOf(keys: RedisKeys): Promise<QueueView> {
    const before = this.#opened;
    if (before?.shards === keys.shards) return before.view;
    const view = createQueueView(this.#redis, keys);
    this.#opened = { shards: keys.shards, view };
    await before?.view.close();
    return view;
  }

  #ready(): Promise<void> {
    const redis = this.#redis;
    if (redis.status === 'ready') return Promise.resolve();
    return new Promise((resolve, reject) => {
      const isReady = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        redis.off('ready', isReady);
        reject(new Error(this.#why));
      }, TIMEOUT);
      redis.once('ready', isReady);
    });
  }
}
