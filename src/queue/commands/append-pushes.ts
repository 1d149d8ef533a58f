/** Appends pushes of one shard, each to the end of its partition, in one step. */
import { groupOf } from '../../domain/matter';
import { defineScript } from '../../infra/redis/commands';
import type { RedisConnection } from '../../infra/redis/connect';
import { createRedisTime, type RedisTime } from '../../infra/redis/time';
import { partitionOf, type RedisKeys } from '../keys';
import { encodePush, type TimedPush } from '../records';

/**
 * What one partition may hold. While a client is alone in a partition, it may use the whole limit; otherwise half of it
 * (contract 6.7). If a client that was alone holds more, the other clients still have the other half.
 */
export interface PartitionLimits {
  /** PARTITION_LIMIT */
  readonly pushes: number;
  /** PARTITION_BYTES; an empty partition accepts a larger push. */
  readonly bytes: number;
}

/** The push is in its partition, or one of the limits of the partition rejected it. */
export type Appended = 'APPENDED' | 'PARTITION_FULL' | 'PARTITION_BYTES_FULL';

/**
 * A partition with at least so many pushes or bytes has a tally of its clients. The limit keeps the first count short, because
 * Redis runs no other command meanwhile.
 */
const TALLY_FROM: PartitionLimits = { pushes: 500, bytes: 1024 * 1024 };

const OUTCOMES: readonly Appended[] = ['APPENDED', 'PARTITION_FULL', 'PARTITION_BYTES_FULL'];

/**
 * A partition that rejects one push rejects all later ones of that client in the same call. If Redis rejects the call at its `maxmemory`
 * (`isOutOfMemory`), no push was appended.
 *
 * @param time Redis time of a queue with one shard; the time in each reply of Redis corrects it
 * @returns a function that returns the result for each push, and the partitions without an owner, which need a partition job.
 *   The script notifies the owners of the others
 */
export function createAppendPushes(
  redis: RedisConnection,
  keys: RedisKeys,
  limits: PartitionLimits,
  time: RedisTime,
) {
  type Answer = [outcomes: number[], unowned: number[], now: number];
  const run = defineScript<Answer>(redis, __dirname, 'append-pushes', 'client-tally');
  const share = { pushes: shareOf(limits.pushes), bytes: shareOf(limits.bytes) };
  const bounds = [
    ...[limits.pushes, limits.bytes, share.pushes, share.bytes],
    ...[Math.min(TALLY_FROM.pushes, share.pushes), Math.min(TALLY_FROM.bytes, share.bytes)],
  ];
  const timeOfShard = timesOfShards(redis, keys, time);
  return async (shard: number, pushes: readonly TimedPush[]) => {
    const clock = timeOfShard(shard);
    const began = performance.now();
    // The Redis time at the start of this call: a wait for this time must not extend the deadlines.
    const start = (await clock.now()) - (performance.now() - began);
    /** By partition: the index of its list in this call, from 1. */
    const lists = new Map<number, number>();
    const items = pushes.flatMap(({ push, text, timeout }) => {
      const partition = partitionOf(groupOf(push.systemCode, push.externalId), keys);
      const list = lists.get(partition) ?? lists.size + 1;
      lists.set(partition, list);
      const deadline = Math.floor(start + Math.max(0, timeout));
      return [list, deadline, text ?? encodePush(push)];
    });
    const partitions = [...lists.keys()];
    const [outcomes, toSchedule, now] = await run(
      [
        ...[keys.partitionBytes(shard), keys.owners(shard), keys.partitionClients(shard)],
        ...partitions.map(keys.partition),
      ],
      [...bounds, keys.wakeUpPrefix, ...partitions, ...items],
    );
    clock.note(now);
    const appended = outcomes.map((outcome) => OUTCOMES[outcome] ?? 'PARTITION_FULL');
    return { appended, toSchedule };
  };
}

/** What a client may use of a limit while other clients use the same partition. */
const shareOf = (limit: number): number => Math.max(1, Math.floor(limit / 2));

/** The Redis time of each shard: each node of a Cluster has its own clock. */
function timesOfShards(redis: RedisConnection, keys: RedisKeys, time: RedisTime) {
  if (keys.shards === 1) return () => time;
  /** Seconds and microseconds. */
  const run = defineScript<number[]>(redis, __dirname, 'time-of-shard');
  const times = new Map<number, RedisTime>();
  return (shard: number): RedisTime => {
    const ofShard = { time: () => run([keys.owners(shard)], []) };
    const own = times.get(shard) ?? createRedisTime(ofShard);
    times.set(shard, own);
    return own;
  };
}
