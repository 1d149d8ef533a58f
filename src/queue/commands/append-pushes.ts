/** Appends pushes to the partitions of one shard. */
import { groupOf } from '../../domain/matter';
import { defineScript } from '../../infra/redis/commands';
import type { RedisConnection } from '../../infra/redis/connect';
import { createRedisTime, type RedisTime } from '../../infra/redis/time';
import { partitionOf, type RedisKeys } from '../keys';
import { encodePush, type TimedPush } from '../records';

/**
 * Limits of one partition. If other clients have pushes in the partition too, a client may use only half of each
 * limit (contract 6.7). Exception: the only waiting push of a client may be larger than half of `bytes`.
 */
export interface PartitionLimits {
  /** PARTITION_LIMIT */
  readonly pushes: number;
  /** PARTITION_BYTES */
  readonly bytes: number;
}

export type Appended = 'APPENDED' | 'PARTITION_FULL' | 'PARTITION_BYTES_FULL';

/**
 * A partition gets a tally of its clients (client-tally.lua) at this number of pushes or bytes. If half of a limit is
 * smaller, the half applies. The tally remains until the partition is empty.
 */
const TALLY_FROM: PartitionLimits = { pushes: 500, bytes: 1024 * 1024 };

const OUTCOMES: readonly Appended[] = ['APPENDED', 'PARTITION_FULL', 'PARTITION_BYTES_FULL'];

/**
 * If the memory of Redis is full, the call fails (`isOutOfMemory`) and appends no push.
 *
 * @param time the Redis time; used only if the queue has one shard (`timesOfShards`)
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
    // `timeout` counts from the start of this call, so the code subtracts the duration of `clock.now()`.
    const start = (await clock.now()) - (performance.now() - began);
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

const shareOf = (limit: number): number => Math.max(1, Math.floor(limit / 2));

/** In a Cluster, each shard can have a different clock. */
function timesOfShards(redis: RedisConnection, keys: RedisKeys, time: RedisTime) {
  if (keys.shards === 1) return () => time;
  const run = defineScript<number[]>(redis, __dirname, 'time-of-shard');
  const times = new Map<number, RedisTime>();
  return (shard: number): RedisTime => {
    const ofShard = { time: () => run([keys.owners(shard)], []) };
    const own = times.get(shard) ?? createRedisTime(ofShard);
    times.set(shard, own);
    return own;
  };
}
