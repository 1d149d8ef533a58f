/** How much waits, and for how long: one look at all shards, which changes nothing. */
import type { RedisKeys } from './keys';
import { createShardLook, type ShardLook } from './partition-commands';
import { partitionsOf } from './partitioning';
import { readItemHeader } from './push';
import type { RedisConnection } from './redis';

export interface PartitionState {
  readonly partition: number;
  /** Pushes in the partition. */
  readonly waiting: number;
  /** Milliseconds since the first of them was appended; null where there is none. */
  readonly oldestMs: number | null;
  /** Its request id. */
  readonly oldestId: string | null;
}

/**
 * @returns a function that tells the state of each partition that takes pushes or holds some, in the order of
 *   their numbers; it rejects where Redis cannot be asked
 */
export function createPartitionStates(
  redis: RedisConnection,
  keys: RedisKeys,
): () => Promise<PartitionState[]> {
  const look = createShardLook(redis, keys);
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const ofShard = async (shard: number) => statesOf(await look(shard), shard, keys.shards);
  return async () => {
    const states = await Promise.all(shards.map(ofShard));
    return states.flat().sort((a, b) => a.partition - b.partition);
  };
}

function statesOf(
  { now, partitioning, holding }: ShardLook,
  shard: number,
  shards: number,
): PartitionState[] {
  const states = new Map<number, PartitionState>();
  for (const partition of partitionsOf(partitioning, shard, shards)) {
    states.set(partition, { partition, waiting: 0, oldestMs: null, oldestId: null });
  }
  for (const { partition, waiting, header } of holding) {
    const { queuedAt, id } = readItemHeader(header);
    const oldestMs = Math.max(0, now - queuedAt);
    states.set(partition, { partition, waiting, oldestMs, oldestId: id });
  }
  return [...states.values()];
}
