/**
 * Creates request ids. A request id is also the id of a push-log entry. The id begins with the time of receipt, by
 * the Redis clock.
 */
import { randomBytes } from 'node:crypto';

/** Random bytes that identify the process in each id. */
const PROCESS_BYTES = 4;
const COUNTER_END = 0x10000;
const COUNTER_DIGITS = 4;
const DIGITS = 24;
const SECONDS_DIGITS = 8;
const LAST_SECOND = 0xffff_ffff;

/** Ids of 24 hex digits, stored as ObjectId: seconds (8), milliseconds (4), process (8), counter (4). */
export interface IdSource {
  /** @param receivedAt epoch milliseconds */
  ofRequest(receivedAt: number): string;
  /** Creates ascending ids for the lines of a batch. A line id differs from `batchId` only in the counter. */
  ofLines(batchId: string, count: number): string[];
}

/** @param ahead returns Redis time minus process time, in milliseconds */
export function createIdSource(ahead: () => number = () => 0): IdSource {
  const processPart = randomBytes(PROCESS_BYTES).toString('hex');
  let counter = 0;
  const nextCounter = (count: number) => {
    // Restarts at 0 before an overflow, because the ids of one call must ascend.
    const first = counter + count < COUNTER_END ? counter + 1 : 0;
    counter = first + count - 1;
    return first;
  };
  return {
    ofRequest: (receivedAt) =>
      timePart(receivedAt + ahead()) + processPart + hex(nextCounter(1), COUNTER_DIGITS),
    ofLines: (batchId, count) => {
      const prefix = batchId.slice(0, -COUNTER_DIGITS);
      const first = nextCounter(count);
      return Array.from({ length: count }, (_, at) => prefix + hex(first + at, COUNTER_DIGITS));
    },
  };
}

/** The range of ids with the same millisecond and process as `id`. */
export function idsOfSameOrigin(id: string): readonly [first: string, last: string] {
  const prefix = id.slice(0, -COUNTER_DIGITS);
  return [prefix.padEnd(DIGITS, '0'), prefix.padEnd(DIGITS, 'f')];
}

/** The smallest possible id of an instant. @param at epoch milliseconds */
export function firstIdAt(at: number): string {
  return timePart(Math.max(0, at)).padEnd(DIGITS, '0');
}

/** The time of receipt in the id, epoch milliseconds. */
export function receivedAtOf(id: string): number {
  const seconds = Number.parseInt(id.slice(0, SECONDS_DIGITS), 16);
  const milliseconds = Number.parseInt(id.slice(SECONDS_DIGITS, SECONDS_DIGITS + 4), 16);
  return seconds * 1000 + Math.min(milliseconds, 999);
}

const LAST_ID = 'f'.repeat(DIGITS);

export function idAfter(id: string): string {
  if (id === LAST_ID) return id;
  return (BigInt(`0x${id}`) + 1n).toString(16).padStart(DIGITS, '0');
}

function timePart(at: number): string {
  const seconds = Math.min(Math.floor(at / 1000), LAST_SECOND);
  return hex(seconds, SECONDS_DIGITS) + hex(Math.floor(at) % 1000, 4);
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
