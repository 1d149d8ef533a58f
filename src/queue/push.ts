/** What travels through a partition: one push, as text with a fixed header. */
import type { Operation } from '../domain/operation';
import type { TraceHeaders } from '../telemetry/tracing';

/** A push on its way from a web process to a worker. */
export interface QueuedPush {
  /** Request id, which is the push-log entry's id: 24 hex digits. */
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
   * Of a line of a batch: the request id of the line of the same matter before it. Where that one took no
   * effect for want of a server or of time, this one takes none either.
   */
  readonly previous?: string;
  /**
   * Where its trace goes on, if its web process has TRACING on. A worker that knows nothing of it, or has
   * tracing off, takes no notice.
   */
  readonly trace?: TraceHeaders;
}

/** A push as a batch reads it. Both times are Redis time, epoch milliseconds. */
export interface WaitingPush extends QueuedPush {
  /** After it the push must not be applied. */
  readonly deadline: number;
  /** When it was appended to its partition. */
  readonly queuedAt: number;
}

/** The traces that pushes are in, as far as they are in any. */
export function traceIdsOf(pushes: readonly QueuedPush[]): string[] {
  return pushes.flatMap(({ trace }) => trace?.traceparent?.split('-')[1] ?? []);
}

/**
 * A partition item is `<deadline: 13 digits><queued at: 13 digits><id: 24 hex><JSON>`. The times are
 * written by Redis when it appends, so that only one clock decides; the id in the header lets a trim
 * recognize its item.
 */
export const TIME_DIGITS = 13;

export function encodePush(push: QueuedPush): string {
  return push.id + JSON.stringify(push);
}

const ID_DIGITS = 24;

/** Characters of an item's header: its times and its id. */
export const ITEM_HEADER_LENGTH = 2 * TIME_DIGITS + ID_DIGITS;

/** The header of a partition item, by which a trim recognizes what was read. */
export function itemHeader({ deadline, queuedAt, id }: WaitingPush): string {
  return digits(deadline) + digits(queuedAt) + id;
}

/** @param item as read from a partition, times included; its header is enough */
export function readItemHeader(item: string): Pick<WaitingPush, 'deadline' | 'queuedAt' | 'id'> {
  return {
    deadline: Number(item.slice(0, TIME_DIGITS)),
    queuedAt: Number(item.slice(TIME_DIGITS, 2 * TIME_DIGITS)),
    id: item.slice(2 * TIME_DIGITS, ITEM_HEADER_LENGTH),
  };
}

/** @param item as read from a partition, times included */
export function decodeItem(item: string): WaitingPush {
  const push: QueuedPush = JSON.parse(item.slice(ITEM_HEADER_LENGTH));
  const { deadline, queuedAt } = readItemHeader(item);
  return Object.assign(push, { deadline, queuedAt });
}

const digits = (time: number) => String(time).padStart(TIME_DIGITS, '0');
