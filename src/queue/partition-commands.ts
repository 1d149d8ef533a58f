/** The scripts of partition-scripts.ts as functions: what they take and return, with names. */
import type { RedisKeys } from './keys';
import { HOLDS } from './ownership-script';
import {
  ACKNOWLEDGE,
  APPEND,
  FIND_DUE,
  LET_GO,
  LOOK,
  NOTE_OWNERS_KNOWN,
  READ,
  REPARTITION,
} from './partition-scripts';
import { type Partitioning, startPartitioning } from './partitioning';
import { ITEM_HEADER_LENGTH, TIME_DIGITS } from './push';
import type { RedisConnection } from './redis';
import type { ReplyMessage } from './replies';

/** What one partition may hold. */
export interface PartitionLimits {
  /** PARTITION_LIMIT */
  readonly pushes: number;
  /** PARTITION_BYTES; a push that is larger is taken by an empty partition. */
  readonly bytes: number;
}

/** A partition that a batch is to read. */
export interface Wanted {
  readonly partition: number;
  /** Its job was just given to this worker: whoever held it before does so no more. */
  readonly isTaken: boolean;
}

/**
 * Which partitions an owner lets go of: those without pushes; all of them; or all of them whose last batch failed,
 * so that whoever takes them next ends what may be left of its work.
 */
export type LetGo = 'IDLE' | 'ALL' | 'FAILED';

export interface PlacedItem {
  readonly partition: number;
  /** Redis time, epoch milliseconds. */
  readonly deadline: number;
  readonly text: string;
}

export interface PartitionsRead {
  readonly now: number;
  readonly fencedOwners: readonly string[];
  /** By partition its items, or a number that says why there are none: see the script. */
  readonly found: readonly (readonly string[] | number)[];
  readonly sizes: readonly number[];
  /** Whether this Redis knows who had partitions before. */
  readonly ownersKnown: boolean;
}

export interface Acknowledgement {
  readonly owner: string;
  readonly hasFenced: boolean;
  readonly records: readonly {
    readonly partition: number;
    readonly count: number;
    readonly bytes: number;
    readonly header: string;
  }[];
  readonly messages: readonly ReplyMessage[];
}

/** What holds pushes in a shard, and how its partitions are numbered now. */
export interface ShardLook {
  readonly now: number;
  readonly partitioning: Partitioning;
  readonly holding: readonly {
    readonly partition: number;
    readonly waiting: number;
    readonly header: string;
  }[];
}

/** Each works on one shard, and rejects with the connection's error. */
export interface PartitionCommands {
  append(
    shard: number,
    known: Partitioning,
    items: readonly PlacedItem[],
  ): Promise<Partitioning | { appended: number[]; unheld: number[]; now: number }>;
  read(
    shard: number,
    wanted: readonly Wanted[],
    about: {
      readonly owner: string;
      readonly maxFenced: number;
      /** Of all these partitions together. */
      readonly limits: PartitionLimits;
    },
  ): Promise<PartitionsRead>;
  noteOwnersKnown(shard: number): Promise<void>;
  acknowledge(shard: number, acknowledgement: Acknowledgement): Promise<number[]>;
  letGo(shard: number, partitions: readonly number[], id: string, which: LetGo): Promise<number[]>;
  /** @returns whether the owner with this id holds all of them */
  holds(shard: number, partitions: readonly number[], id: string): Promise<boolean>;
  findDue(shard: number, id: string, alive: Iterable<string>): Promise<number[]>;
  count(shard: number): Promise<number>;
  repartition(shard: number, count: number): Promise<Partitioning & { hasChanged: boolean }>;
  /** Of the server that has the shard: seconds and microseconds. */
  time(shard: number): Promise<number[]>;
}

/**
 * Milliseconds that the first push of a partition has waited, after which a worker looks at one of its own
 * (its ring was lost, or its job failed), and at those of others (they died, and their job with them).
 */
const OVERDUE = 300;
const OVERDUE_AT_OTHERS = 2_000;
/** Milliseconds in which one worker looks after those of others: all of them would be a crowd. */
const SWEEP_ALL_EVERY = 400;

type Arguments = (string | number)[];
type Script<T> = (keyCount: number, ...args: Arguments) => Promise<T>;
interface Scripts {
  readonly appendToPartitions: Script<[number, number] | [number[], number[], number]>;
  readonly readPartitions: Script<[number, string[], (string[] | number)[], number[], number]>;
  readonly noteOwnersKnown: Script<number>;
  readonly acknowledgeBatch: Script<number[]>;
  readonly letGoOfPartitions: Script<number[]>;
  readonly holdsPartitions: Script<number>;
  readonly findDuePartitions: Script<number[]>;
  readonly repartition: Script<[number, number, number]>;
  readonly timeOfShard: Script<number[]>;
}

export function createPartitionCommands(
  redis: RedisConnection,
  keys: RedisKeys,
  limits: PartitionLimits,
): PartitionCommands {
  redis.defineCommand('appendToPartitions', { lua: APPEND });
  redis.defineCommand('readPartitions', { lua: READ });
  redis.defineCommand('noteOwnersKnown', { lua: NOTE_OWNERS_KNOWN });
  redis.defineCommand('acknowledgeBatch', { lua: ACKNOWLEDGE });
  redis.defineCommand('letGoOfPartitions', { lua: LET_GO });
  redis.defineCommand('holdsPartitions', { lua: HOLDS });
  redis.defineCommand('findDuePartitions', { lua: FIND_DUE });
  redis.defineCommand('repartition', { lua: REPARTITION });
  redis.defineCommand('timeOfShard', { lua: "return redis.call('TIME')" });
  const scripts = redis as unknown as Scripts;
  const start = startPartitioning(keys.shards);
  return {
    append: async (shard, known, items) => {
      const distinct = [...new Set(items.map(({ partition }) => partition))];
      const indexes = new Map(distinct.map((partition, index) => [partition, index + 1]));
      const lists = distinct.map(keys.partition);
      const [first, second, now] = await scripts.appendToPartitions(
        3 + lists.length,
        ...[keys.partitioning(shard), keys.partitionBytes(shard), keys.owners(shard), ...lists],
        ...[known.first, known.count, start.first, start.count],
        ...[limits.pushes, limits.bytes, keys.rings, ...distinct],
        ...items.flatMap(({ partition, deadline, text }) => [
          indexes.get(partition) ?? 0,
          deadline,
          text,
        ]),
      );
      if (now === undefined) return { first: Number(first), count: Number(second) };
      return { appended: first as number[], unheld: second as number[], now };
    },
    read: async (shard, wanted, { owner, maxFenced, limits: most }) => {
      const [now, fencedOwners, found, sizes, known] = await scripts.readPartitions(
        4 + wanted.length,
        ...[keys.owners(shard), keys.draining(shard), keys.partitioning(shard)],
        keys.ownersKnown(shard),
        ...wanted.map(({ partition }) => keys.partition(partition)),
        ...[most.pushes, most.bytes, owner, maxFenced, keys.shards],
        ...wanted.flatMap(({ partition, isTaken }) => [partition, isTaken ? 1 : 0]),
      );
      return { now, fencedOwners, found, sizes, ownersKnown: known === 1 };
    },
    noteOwnersKnown: async (shard) => {
      await scripts.noteOwnersKnown(1, keys.ownersKnown(shard));
    },
    acknowledge: (shard, { owner, hasFenced, records, messages }) =>
      scripts.acknowledgeBatch(
        3 + records.length,
        ...[keys.owners(shard), keys.partitionBytes(shard), keys.draining(shard)],
        ...records.map(({ partition }) => keys.partition(partition)),
        ...[owner, hasFenced ? 1 : 0],
        ...records.flatMap(({ partition, count, bytes, header }) => [
          ...[partition, count, bytes, header],
        ]),
        ...messages.flatMap(({ ingressId, payload }) => [keys.replies(ingressId), payload]),
      ),
    letGo: (shard, partitions, id, which) =>
      scripts.letGoOfPartitions(
        1 + partitions.length,
        ...[keys.owners(shard), ...partitions.map(keys.partition)],
        ...[id, which, ...partitions],
      ),
    holds: async (shard, partitions, id) =>
      (await scripts.holdsPartitions(1, keys.owners(shard), id, ...partitions)) === 1,
    findDue: (shard, id, alive) =>
      scripts.findDuePartitions(
        4,
        ...[keys.partitionBytes(shard), keys.owners(shard), keys.draining(shard)],
        ...[keys.sweep(shard), keys.partitionPrefix(shard), TIME_DIGITS, id],
        ...[OVERDUE, OVERDUE_AT_OTHERS, SWEEP_ALL_EVERY],
        ...alive,
      ),
    count: async (shard) =>
      Number((await redis.hget(keys.partitioning(shard), 'count')) ?? start.count),
    repartition: async (shard, count) => {
      const [first, now, changed] = await scripts.repartition(
        3,
        ...[keys.partitioning(shard), keys.partitionBytes(shard), keys.draining(shard)],
        ...[start.first, start.count, count],
      );
      return { first, count: now, hasChanged: changed === 1 };
    },
    time: (shard) => scripts.timeOfShard(1, keys.partitioning(shard)),
  };
}

interface LookScript {
  readonly lookAtPartitions: Script<(number | string)[]>;
}

/** @returns a function that looks at one shard and changes nothing; it rejects where Redis is away */
export function createShardLook(
  redis: RedisConnection,
  keys: RedisKeys,
): (shard: number) => Promise<ShardLook> {
  redis.defineCommand('lookAtPartitions', { lua: LOOK });
  const scripts = redis as unknown as LookScript;
  const start = startPartitioning(keys.shards);
  return async (shard) => {
    const [now, first, count, ...seen] = await scripts.lookAtPartitions(
      2,
      ...[keys.partitioning(shard), keys.partitionBytes(shard)],
      ...[start.first, start.count, keys.partitionPrefix(shard), ITEM_HEADER_LENGTH],
    );
    const holding = Array.from({ length: seen.length / 3 }, (_, n) => ({
      partition: Number(seen[3 * n]),
      waiting: Number(seen[3 * n + 1]),
      header: String(seen[3 * n + 2]),
    }));
    const partitioning = { first: Number(first), count: Number(count) };
    return {
      now: Number(now),
      partitioning,
      holding: holding.filter(({ waiting }) => waiting > 0),
    };
  };
}
