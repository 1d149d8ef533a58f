/** For each partition, reads how many pushes wait, and how old the oldest push is. */

import { defineScript } from '../../infra/redis/commands';
import type { RedisConnection } from '../../infra/redis/connect';
import { partitionsOf, type RedisKeys } from '../keys';
import { ITEM_HEADER_LENGTH, readItemHeader } from '../records';

export interface PartitionState {
  readonly partition: number;
  readonly waiting: number;
  /** Milliseconds since the oldest push was appended; null if the partition is empty. */
  readonly oldestMs: number | null;
  /** The request id of the oldest push; null if the partition is empty. */
  readonly oldestId: string | null;
}

/** Returns all partitions of all shards, sorted by number. */
export type ReadWaiting = () => Promise<PartitionState[]>;

/** `header` is the item header of the oldest push. */
type Answer = [now: number, found: [partition: number, pushes: number, header: string][]];

export function createReadWaiting(redis: RedisConnection, keys: RedisKeys): ReadWaiting {
  const run = defineScript<Answer>(redis, __dirname, 'read-waiting');
  const readShard = async (shard: number): Promise<PartitionState[]> => {
    const args = [keys.partitionPrefix(shard), ITEM_HEADER_LENGTH];
    const [now, seen] = await run([keys.partitionBytes(shard)], args);
    const states = new Map<number, PartitionState>();
    for (const partition of partitionsOf(shard, keys))
      states.set(partition, { partition, waiting: 0, oldestMs: null, oldestId: null });
    for (const [partition, waiting, header] of seen) {
      if (waiting === 0) continue;
      const { queuedAt, id } = readItemHeader(header);
      const oldestMs = Math.max(0, now - queuedAt);
      states.set(partition, { partition, waiting, oldestMs, oldestId: id });
    }
    return [...states.values()];
  };
  return async () => {
    const states = await Promise.all(Array.from({ length: keys.shards }, (_, n) => readShard(n)));
    return states.flat().sort((a, b) => a.partition - b.partition);
  };
}
