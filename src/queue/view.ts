/**
 * A look into the queue for operators: what waits, for how long, and which jobs there are. It changes
 * nothing, and reads a bounded part. The queue goes on meanwhile: of one that moves fast the figures
 * are nearly right.
 */
import type { RedisKeys } from './keys';
import { ownerName } from './owner';
import { createPartitionJobReader, type PartitionJobView } from './partition-job-view';
import { createPartitionStates, type PartitionState } from './partition-states';
import { decodeItem } from './push';
import type { RedisConnection } from './redis';
import { createRedisTime } from './redis-time';
import { createWaitingTally, type WaitingClient, type WaitingGroup } from './waiting-tally';

export interface PartitionView extends PartitionState {
  /** Null where there is none. */
  readonly job: PartitionJobView | null;
  /** The process that holds the partition: its name, as in the logs. */
  readonly owner: string | null;
  /** Earlier owners that did not let go of it, the latest one first. */
  readonly fencedOwners: readonly string[];
}

export interface PushesView {
  /** Whose oldest push has waited longest comes first. */
  readonly groups: readonly WaitingGroup[];
  readonly clients: readonly WaitingClient[];
  /** Partitions of which only the first pushes were counted, there are so many. */
  readonly cutPartitions: readonly number[];
}

export interface QueueView {
  /** All partitions that take pushes or hold some. */
  partitions(): Promise<PartitionView[]>;
  /** @param most pushes of a partition that are looked at, 10,000 where it is not given */
  pushes(most?: number): Promise<PushesView>;
  close(): Promise<void>;
}

const MOST = 10_000;
/** Pushes of one answer of Redis: one may be large. */
const CHUNK = 250;

export function createQueueView(redis: RedisConnection, keys: RedisKeys): QueueView {
  const time = createRedisTime(redis, () => performance.now());
  const jobs = createPartitionJobReader(redis, keys);
  const look = createPartitionStates(redis, keys);
  return {
    partitions: async () => {
      const byPartition = await jobs.read(await time.now());
      const [states, owners] = await Promise.all([look(), readOwners(redis, keys)]);
      return states.map((state) => {
        const names = (owners.get(state.partition) ?? '').split(' ').map(ownerName);
        const [owner, ...fencedOwners] = names;
        return {
          ...state,
          job: byPartition.get(state.partition) ?? null,
          owner: owner || null,
          fencedOwners: fencedOwners.filter(Boolean),
        };
      });
    },
    pushes: async (most = MOST) => {
      const tally = createWaitingTally(await time.now());
      const cutPartitions: number[] = [];
      const holding = (await look()).filter(({ waiting }) => waiting > 0);
      for (const { partition } of holding) {
        for await (const item of itemsOf(redis, keys.partition(partition), most)) {
          tally.add(partition, decodeItem(item));
        }
        if ((await redis.lindex(keys.partition(partition), most)) !== null)
          cutPartitions.push(partition);
      }
      return { groups: tally.groups(), clients: tally.clients(), cutPartitions };
    },
    close: jobs.close,
  };
}

/** By partition, the text of its owners. */
async function readOwners(redis: RedisConnection, keys: RedisKeys): Promise<Map<number, string>> {
  const shards = Array.from({ length: keys.shards }, (_, shard) => shard);
  const owners = await Promise.all(shards.map((shard) => redis.hgetall(keys.owners(shard))));
  const entries = owners.flatMap((ofShard) => Object.entries(ofShard));
  return new Map(entries.map(([partition, text]) => [Number(partition), text]));
}

/** The first items of a list, in pieces. */
async function* itemsOf(
  redis: RedisConnection,
  list: string,
  most: number,
): AsyncGenerator<string> {
  for (let from = 0; from < most; from += CHUNK) {
    const last = Math.min(from + CHUNK, most) - 1;
    const items = await redis.lrange(list, from, last);
    yield* items;
    if (items.length < CHUNK) return;
  }
}
