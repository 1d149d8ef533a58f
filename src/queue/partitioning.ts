/**
 * Which partition carries a group. The queue has shards, each of which Redis keeps in one place (one hash
 * tag); a shard has partitions, as many as its workers need. A group never leaves its shard. When the
 * number of partitions changes, a shard takes new ones with new numbers. A new one is read only once what waits
 * in the old ones from which its groups come is applied (partition-scripts.ts), so that no group is
 * applied out of its order. The counts of workers' needs are doubled, so that this is one old partition
 * or a few: a long one holds up nobody else.
 */
import { crc32 } from 'node:zlib';

/** The partitions of one shard that take pushes now. */
export interface Partitioning {
  /** Counted within the shard. */
  readonly first: number;
  readonly count: number;
}

/** Where a group belongs, however many partitions there are. */
export interface Place {
  readonly shard: number;
  readonly hash: number;
}

/** Partitions that each live worker is to have, so that they can be shared evenly. */
const PER_WORKER = 16;
const MIN_PARTITIONS = 32;
const MAX_PARTITIONS = 4_096;

/** @param shards of the deployment */
export function placeOf(group: string, shards: number): Place {
  const hash = crc32(group);
  return { shard: hash % shards, hash: Math.floor(hash / shards) };
}

/** The number of a place's partition: one of the whole deployment, which is never used again for another. */
export function partitionOf(
  { shard, hash }: Place,
  { first, count }: Partitioning,
  shards: number,
): number {
  return (first + (hash % count)) * shards + shard;
}

export const shardOf = (partition: number, shards: number): number => partition % shards;

/** The partitions of a shard that take pushes now. */
export function partitionsOf({ first, count }: Partitioning, shard: number, shards: number) {
  return Array.from({ length: count }, (_, index) => (first + index) * shards + shard);
}

/** As long as nobody has asked for more. */
export const startPartitioning = (shards: number): Partitioning => ({
  first: 0,
  count: Math.ceil(MIN_PARTITIONS / shards),
});

/**
 * Partitions that a shard is to have: the fewest, doubled as often as the workers need.
 *
 * @param workers that are alive
 */
export function wantedCount(workers: number, shards: number): number {
  const wanted = Math.min(MAX_PARTITIONS, workers * PER_WORKER);
  let { count } = startPartitioning(shards);
  while (count * shards < wanted) count *= 2;
  return count;
}
