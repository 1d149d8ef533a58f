/** The partitions: ordered lists of waiting pushes in Redis, and the commands that work on them. */
import { groupOf } from '../domain/group';
import type { RedisKeys } from './keys';
import { readOwner } from './owner';
import {
  createPartitionCommands,
  type LetGo,
  type PartitionCommands,
  type PartitionLimits,
  type Wanted,
} from './partition-commands';
import {
  type Partitioning,
  partitionOf,
  placeOf,
  shardOf,
  startPartitioning,
} from './partitioning';
import { decodeItem, encodePush, itemHeader, type QueuedPush, type WaitingPush } from './push';
import type { RedisConnection } from './redis';
import { createRedisTime, type RedisTime } from './redis-time';
import { type Reply, toMessages } from './replies';

/** What a worker reads, applies and acknowledges together: the first pushes of some partitions. */
export interface Batch {
  /** The worker, as Redis has it: see owner.ts. */
  readonly owner: string;
  /** The database session in which the batch commits. */
  readonly session: string;
  /**
   * Owners that had the partitions before and did not let go: they died, or lost their lock and may
   * still be at work. Their open transactions must be ended before this batch commits.
   */
  readonly fencedOwners: readonly string[];
  /**
   * Shards whose Redis does not know who had partitions before: it is new, or came back empty. Whatever other workers
   * have left open must be ended before this batch is decided, and `noteOwnersKnown` called then.
   */
  readonly unknownShards: readonly number[];
  /** When it was read: Redis time, epoch milliseconds. */
  readonly now: number;
  readonly records: readonly PartitionRecords[];
  /** Why others of the wanted partitions are not among the records. */
  readonly unread: ReadonlyMap<number, Unread>;
}

/** Another worker holds it; or older partitions drain first; or Redis did not answer. */
export type Unread = 'LOST' | 'DRAINING' | Error;

/** The first pushes of one partition, in their order. */
export interface PartitionRecords {
  readonly partition: number;
  readonly pushes: readonly WaitingPush[];
  /** As Redis holds them. */
  readonly bytes: number;
  /** By the clock that the deadlines were written by, epoch milliseconds: each node of a Cluster has its own. */
  readonly now: number;
}

/** What became of a push that was to be appended: in its partition, or rejected by one of its limits. */
export type Appended = 'APPENDED' | 'PARTITION_FULL' | 'PARTITION_BYTES_FULL';

/** A push with the time that its caller has left to wait. */
export interface TimedPush {
  readonly push: QueuedPush;
  /** As encodePush gives it, where the caller has it already. */
  readonly text?: string;
  /** Milliseconds from now after which it must not be applied any more. */
  readonly timeout: number;
}

export interface ReadOptions {
  /** Will commit the batch: see owner.ts. */
  readonly owner: string;
  readonly session: string;
  /** Pushes of all partitions together, at most; but one of each at least, as far as the bytes go. */
  readonly most: number;
}

export interface Partitions {
  /**
   * Appends pushes of one shard, each to the end of its partition, and rings the workers that hold those
   * partitions.
   *
   * @returns what became of each, and the partitions that nobody holds and that therefore need a job
   * @throws the connection's error; where that is `isOutOfMemory`, none was appended
   */
  append(
    shard: number,
    pushes: readonly TimedPush[],
  ): Promise<{ appended: Appended[]; toSchedule: number[] }>;
  /**
   * Reads the first pushes of each partition: 4 MiB in all, and of each shard one push more at most. Each
   * partition that may be read has an equal share of what its shard has; where large pushes use that up, some
   * give none this time. Nothing is removed.
   */
  read(wanted: readonly Wanted[], options: ReadOptions): Promise<Batch>;
  /**
   * Acknowledges a batch: sends the replies, and only then trims what was read, in one step for each
   * shard. Of a partition that no longer begins with what the batch read (its job lost its lock, or a
   * failover lost its end) nothing is trimmed: what is still there is read again, and found settled.
   *
   * @param sentAt Redis time, epoch milliseconds
   * @returns by partition how many pushes it still holds, or why that is not known
   */
  acknowledge(
    batch: Batch,
    replies: readonly Reply<unknown>[],
    sentAt: number,
  ): Promise<Map<number, number | Error>>;
  /**
   * Whether its worker still holds every partition of which a batch has pushes, as Redis has it.
   *
   * @throws the connection's error
   */
  isHeld(batch: Batch): Promise<boolean>;
  /** Nothing is open any more that owners left who were forgotten. @throws the connection's error */
  noteOwnersKnown(shards: readonly number[]): Promise<void>;
  /**
   * Lets go of partitions that an owner holds.
   *
   * @param id of the owner
   * @returns by partition how many pushes it holds now, or why that is not known; none of a partition that
   *   is held on
   */
  letGo(
    partitions: readonly number[],
    id: string,
    which: LetGo,
  ): Promise<Map<number, number | Error>>;
  /**
   * The partitions of a shard that hold pushes and nobody, and those that their worker seems to have forgotten.
   *
   * @param id of the owner that asks; of its own it learns sooner
   * @param alive ids of the owners that live, none where that is not known; what another one holds is due
   *   where nothing waits in it, too
   */
  findDue(shard: number, id: string, alive?: Iterable<string>): Promise<number[]>;
  /** Of one shard, those that take pushes now. */
  count(): Promise<number>;
  /**
   * Has every shard's pushes go to so many partitions from now on; without effect where it is so.
   *
   * @returns whether this call has changed it, in any shard
   * @throws where a shard does not answer; the others have done it all the same
   */
  repartition(count: number): Promise<boolean>;
}

/** Owners that can die on one partition, one after the other, before Redis forgets the oldest. */
const MAX_FENCED_OWNERS = 20;
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** Tries to append by the right partitioning: it changes rarely. */
const MAX_TRIES = 5;

/** By what the script says of each push. */
const APPENDED: readonly Appended[] = ['APPENDED', 'PARTITION_FULL', 'PARTITION_BYTES_FULL'];
/** What the script says of a partition that it did not read. */
const UNREAD = new Map<unknown, Unread>([
  [-1, 'LOST'],
  [-2, 'DRAINING'],
]);

/** @param time of Redis, which learns from every append */
export function createPartitions(
  redis: RedisConnection,
  keys: RedisKeys,
  limits: PartitionLimits,
  time: RedisTime,
): Partitions {
  return new RedisPartitions(createPartitionCommands(redis, keys, limits), keys.shards, time);
}

class RedisPartitions implements Partitions {
  /** By shard, as this process knows it; Redis says where it is not so any more. */
  private readonly partitionings: Partitioning[];
  private readonly allShards: readonly number[];
  /** By shard. */
  private readonly times: readonly RedisTime[];

  constructor(
    private readonly commands: PartitionCommands,
    private readonly shards: number,
    time: RedisTime,
  ) {
    this.allShards = Array.from({ length: shards }, (_, shard) => shard);
    this.partitionings = this.allShards.map(() => startPartitioning(shards));
    // Each node of a Cluster has a clock of its own.
    const timeOf = (shard: number) => ({ time: () => commands.time(shard) });
    const monotonic = () => performance.now();
    this.times = this.allShards.map((shard) =>
      shards === 1 ? time : createRedisTime(timeOf(shard), monotonic),
    );
  }

  readonly append: Partitions['append'] = async (shard, pushes) => {
    const time = this.times[shard];
    if (!time) throw new Error(`there is no shard ${shard}`);
    const asked = performance.now();
    const start = (await time.now()) - (performance.now() - asked);
    const items = pushes.map(({ push, text = encodePush(push), timeout }) => ({
      place: placeOf(groupOf(push.systemCode, push.externalId), this.shards),
      deadline: Math.floor(start + Math.max(0, timeout)),
      text,
    }));
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const known = this.partitionings[shard] ?? startPartitioning(this.shards);
      const placed = items.map(({ place, deadline, text }) => ({
        partition: partitionOf(place, known, this.shards),
        deadline,
        text,
      }));
      const answer = await this.commands.append(shard, known, placed);
      if ('now' in answer) {
        time.note(answer.now);
        const appended = answer.appended.map((how) => APPENDED[how] ?? 'PARTITION_FULL');
        return { appended, toSchedule: answer.unheld };
      }
      this.partitionings[shard] = answer;
    }
    throw new Error('the partitions change too often to append to them');
  };

  readonly read: Partitions['read'] = async (wanted, { owner, session, most }) => {
    const share = (whole: number, part: number) => Math.floor((whole * part) / wanted.length);
    const limitsOf = (part: number) => ({
      pushes: share(most, part),
      bytes: share(MAX_BATCH_BYTES, part),
    });
    const unread = new Map<number, Unread>();
    const records: PartitionRecords[] = [];
    const fencedOwners = new Set<string>();
    const unknownShards: number[] = [];
    let now = 0;
    const ofShards = byShard(wanted, ({ partition }) => shardOf(partition, this.shards));
    await Promise.all(
      [...ofShards].map(async ([shard, ofShard]) => {
        const limits = limitsOf(ofShard.length);
        const about = { owner, maxFenced: MAX_FENCED_OWNERS, limits };
        const answer = await this.commands.read(shard, ofShard, about).catch(asError);
        if (answer instanceof Error) {
          for (const { partition } of ofShard) unread.set(partition, answer);
          return;
        }
        now = Math.max(now, answer.now);
        for (const fenced of answer.fencedOwners) fencedOwners.add(fenced);
        if (!answer.ownersKnown) unknownShards.push(shard);
        for (const [n, { partition }] of ofShard.entries()) {
          const items = answer.found[n];
          const reason = UNREAD.get(items);
          if (reason) unread.set(partition, reason);
          else
            records.push({
              partition,
              pushes: (items as string[]).map(decodeItem),
              bytes: answer.sizes[n] ?? 0,
              now: answer.now,
            });
        }
      }),
    );
    const fenced = { fencedOwners: [...fencedOwners], unknownShards };
    return { owner, session, ...fenced, now, records, unread };
  };

  readonly acknowledge: Partitions['acknowledge'] = async (batch, replies, sentAt) => {
    const left = new Map<number, number | Error>();
    const ofShards = byShard(batch.records, ({ partition }) => shardOf(partition, this.shards));
    await Promise.all(
      [...ofShards].map(async ([shard, records]) => {
        const answer = await this.commands
          .acknowledge(shard, {
            owner: batch.owner,
            hasFenced: batch.fencedOwners.length > 0,
            records: records.map(({ partition, pushes, bytes }) => {
              const last = pushes.at(-1);
              const header = last ? itemHeader(last) : '';
              return { partition, count: pushes.length, bytes, header };
            }),
            messages: toMessages(
              ofShards.size === 1 ? replies : repliesTo(records, replies),
              sentAt,
            ),
          })
          .catch(asError);
        records.forEach(({ partition }, n) => {
          left.set(partition, answer instanceof Error ? answer : (answer[n] ?? 0));
        });
      }),
    );
    return left;
  };

  readonly noteOwnersKnown: Partitions['noteOwnersKnown'] = async (shards) => {
    await Promise.all(shards.map((shard) => this.commands.noteOwnersKnown(shard)));
  };

  readonly isHeld: Partitions['isHeld'] = async ({ owner, records }) => {
    const { id } = readOwner(owner);
    const read = records.filter(({ pushes }) => pushes.length > 0);
    const ofShards = byShard(read, ({ partition }) => shardOf(partition, this.shards));
    const held = await Promise.all(
      [...ofShards].map(([shard, ofShard]) =>
        this.commands.holds(
          shard,
          ofShard.map(({ partition }) => partition),
          id,
        ),
      ),
    );
    return held.every(Boolean);
  };

  readonly letGo: Partitions['letGo'] = async (partitions, id, which) => {
    const left = new Map<number, number | Error>();
    const ofShards = byShard(partitions, (partition) => shardOf(partition, this.shards));
    await Promise.all(
      [...ofShards].map(async ([shard, ofShard]) => {
        const answer = await this.commands.letGo(shard, ofShard, id, which).catch(asError);
        ofShard.forEach((partition, n) => {
          const pushes = answer instanceof Error ? answer : (answer[n] ?? -1);
          if (pushes instanceof Error || pushes >= 0) left.set(partition, pushes);
        });
      }),
    );
    return left;
  };

  readonly findDue: Partitions['findDue'] = (shard, id, alive = []) =>
    this.commands.findDue(shard, id, alive);

  /** The shards change one after the other: the fewest of them. */
  readonly count: Partitions['count'] = async () => {
    const counts = await Promise.all(this.allShards.map((shard) => this.commands.count(shard)));
    return Math.min(...counts);
  };

  readonly repartition: Partitions['repartition'] = async (count) => {
    const changes = await Promise.all(
      this.allShards.map(async (shard) => {
        const { hasChanged, ...partitioning } = await this.commands.repartition(shard, count);
        this.partitionings[shard] = partitioning;
        return hasChanged;
      }),
    );
    return changes.some(Boolean);
  };
}

/** Of the pushes of some partitions. */
function repliesTo(
  records: readonly PartitionRecords[],
  replies: readonly Reply<unknown>[],
): Reply<unknown>[] {
  const ids = new Set(records.flatMap(({ pushes }) => pushes.map(({ id }) => id)));
  return replies.filter(({ id }) => ids.has(id));
}

function byShard<T>(items: readonly T[], shardOfItem: (item: T) => number): Map<number, T[]> {
  const shards = new Map<number, T[]>();
  for (const item of items) {
    const shard = shardOfItem(item);
    const ofShard = shards.get(shard) ?? [];
    ofShard.push(item);
    shards.set(shard, ofShard);
  }
  return shards;
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
