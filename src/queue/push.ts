/** What travels through a lane: one push, as text with a fixed head. */
import type { Operation } from '../domain/operation';

/** A push on its way from an ingress to a worker. */
export interface QueuedPush {
  /** Request id, which is the push-log entry's id: 24 hex digits. */
  readonly id: string;
  readonly systemCode: string;
  readonly externalId: string;
  readonly operation: Operation;
  /** The ingress that waits for the reply. */
  readonly replyTo: string;
  readonly bodyHash: string;
  readonly keyId?: string;
  readonly replayKey?: string;
}

/** A push as a turn reads it. */
export interface WaitingPush extends QueuedPush {
  /** Redis time in epoch milliseconds after which it must not be applied. */
  readonly deadline: number;
}

/**
 * A lane item is `<deadline: 13 digits><id: 24 hex><JSON>`. The deadline is written by Redis when
 * it appends, so that only one clock decides; the id in the head lets a trim recognize its item.
 */
const DEADLINE_DIGITS = 13;

export function encodePush(push: QueuedPush): string {
  return push.id + JSON.stringify(push);
}

const ID_DIGITS = 24;

/** The head of a lane item, by which a trim recognizes what was read. */
export function headOf({ deadline, id }: WaitingPush): string {
  return String(deadline).padStart(DEADLINE_DIGITS, '0') + id;
}

/** @param item as read from a lane, deadline included */
export function decodeItem(item: string): WaitingPush {
  const push: QueuedPush = JSON.parse(item.slice(DEADLINE_DIGITS + ID_DIGITS));
  return { ...push, deadline: Number(item.slice(0, DEADLINE_DIGITS)) };
}
