/** The data in the queue: pushes, batches, and owners of partitions. */
import type { Operation } from '../domain/operation';
import type { TraceHeaders } from '../observability/tracing';

/** A push on its way from a web process to a worker. */
export interface PushMessage {
  /** Request id, which is also the id of the push-log entry: 24 hex digits. */
  readonly id: string;
  readonly clientId: string;
  readonly systemCode: string;
  readonly externalId: string;
  readonly operation: Operation;
  /** The web process that waits for the reply. */
  readonly replyTo: string;
  readonly bodyHash: string;
  readonly idempotencyKey?: string;
  readonly idempotencyFingerprint?: string;
  /**
   * Request id of the previous batch line for this matter. If the previous line failed with a retryable server error,
   * this push is skipped.
   */
  readonly previous?: string;
  /** The trace context of the web process, if TRACING is on. */
  readonly trace?: TraceHeaders;
}

/** A push as a worker reads it. `deadline` and `queuedAt` are epoch milliseconds of the Redis clock. */
export interface WaitingPush extends PushMessage {
  /** After this time the push must not be applied. */
  readonly deadline: number;
  readonly queuedAt: number;
}

export interface TimedPush {
  readonly push: PushMessage;
  /** The result of `encodePush`, if the push is already encoded. */
  readonly text?: string;
  /** Milliseconds from the call of `append` until the deadline. */
  readonly timeout: number;
}

export interface WantedPartition {
  readonly partition: number;
  /** Whether this worker has just received the job of the partition. If so, the read makes this worker the owner. */
  readonly isTaken: boolean;
}

/** The first pushes of one partition, in queue order. */
export interface PartitionRecords {
  readonly partition: number;
  readonly pushes: readonly WaitingPush[];
  /** Size of `pushes` in Redis. */
  readonly bytes: number;
  /** Redis time of the read, epoch milliseconds. */
  readonly now: number;
}

/** Pushes that a worker reads, applies, answers and removes together. */
export interface Batch {
  /** The result of `ownerText` for this worker. */
  readonly owner: string;
  /** The database session in which the batch commits. */
  readonly session: string;
  /**
   * Earlier owners of the partitions in this batch. The worker must end the open transactions of these owners before
   * the worker loads matters from the database.
   */
  readonly fencedOwners: readonly string[];
  /**
   * Shards whose earlier owners are unknown. The worker must end the open transactions of all other workers, and then
   * call `noteOwnersKnown`.
   */
  readonly unknownShards: readonly number[];
  /** Latest Redis time of the reads, epoch milliseconds. */
  readonly now: number;
  readonly records: readonly PartitionRecords[];
  /** Errors of partitions that could not be read. `LOST`: this worker does not own the partition. */
  readonly unread: ReadonlyMap<number, 'LOST' | Error>;
}

export function traceIdsOf(pushes: readonly PushMessage[]): string[] {
  return pushes.flatMap(({ trace }) => trace?.traceparent?.split('-')[1] ?? []);
}

/**
 * A partition item is `<deadline: 13 digits><queued at: 13 digits><id: 24 hex><JSON>`, with Redis times in epoch
 * milliseconds. The header is the part before the JSON.
 */
export const TIME_DIGITS = 13;
const ID_DIGITS = 24;

export const ITEM_HEADER_LENGTH = 2 * TIME_DIGITS + ID_DIGITS;

export const encodePush = (push: PushMessage): string => push.id + JSON.stringify(push);

export const itemHeader = ({ deadline, queuedAt, id }: WaitingPush): string =>
  digits(deadline) + digits(queuedAt) + id;

/** @param item a partition item, or only its header */
export const readItemHeader = (item: string) => ({
  deadline: Number(item.slice(0, TIME_DIGITS)),
  queuedAt: Number(item.slice(TIME_DIGITS, 2 * TIME_DIGITS)),
  id: item.slice(2 * TIME_DIGITS, ITEM_HEADER_LENGTH),
});

export function decodeItem(item: string): WaitingPush {
  const push: PushMessage = JSON.parse(item.slice(ITEM_HEADER_LENGTH));
  const { deadline, queuedAt } = readItemHeader(item);
  return Object.assign(push, { deadline, queuedAt });
}

const digits = (time: number) => String(time).padStart(TIME_DIGITS, '0');

/**
 * An owner of partitions: one run of a worker. With the ids in `sessions`, the next owner of a partition can end the
 * open transactions of this owner.
 */
export interface Owner {
  /** Letters and digits only, because the Lua scripts match this id with `%w`. */
  readonly id: string;
  /** Hex ids of the database sessions, one for each concurrent batch. */
  readonly sessions: readonly string[];
  /** Name of the process, without blanks. In Redis, a blank separates two owners. */
  readonly name: string;
}

/** Format: `id:session+session@name`; the Lua scripts read the id. */
export const ownerText = ({ id, sessions, name }: Owner): string =>
  `${id}:${sessions.join('+')}@${name}`;

export function readOwner(text: string): Owner {
  const [, id = '', sessions = '', name = ''] = /^([^:]*):([^@]*)@(.*)$/.exec(text) ?? [];
  return { id, sessions: sessions.split('+').filter(Boolean), name };
}

export const ownerName = (text: string): string => readOwner(text).name;
