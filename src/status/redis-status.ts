/** Reads the part of the status that comes from Redis. */

import type { RedisConnection } from '../infra/redis/connect';
import { readProcesses, type SeenProcess } from '../queue/heartbeat';
import { createQueueView, type PartitionView, type QueueView } from '../queue/inspect/view';
import type { RedisKeys } from '../queue/keys';
import { isQueuePaused, UNPAUSE } from '../queue/probe';

export interface RedisStatus {
  readonly version: string;
  /** `master`, `slave` or `unknown`. */
  readonly role: string;
  /** Message if an operator has paused the queue with BullMQ; otherwise null. */
  readonly problem: string | null;
  readonly processes: readonly SeenProcess[];
  readonly partitions: readonly PartitionView[];
}

/** Maximum milliseconds for which a read waits for the connection. */
const TIMEOUT = 2_000;

export class RedisStatusReader {
  readonly #redis: RedisConnection;
  readonly #readKeys: () => Promise<RedisKeys>;
  #opened: { readonly shards: number; readonly view: QueueView } | undefined;
  #lastError = 'no answer';

  /** @param redis a connection from `connectFailFast` */
  constructor(redis: RedisConnection, readKeys: () => Promise<RedisKeys>) {
    this.#redis = redis;
    this.#readKeys = readKeys;
    redis.on('error', (error) => {
      this.#lastError = error.message;
    });
  }

  /** @throws an error if Redis is unavailable */
  async look(): Promise<RedisStatus> {
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
      const onReady = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        redis.off('ready', onReady);
        reject(new Error(this.#lastError));
      }, TIMEOUT);
      redis.once('ready', onReady);
    });
  }
}
