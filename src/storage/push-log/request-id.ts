/**
 * Request ids, which are the ids of push-log entries: in the order of receipt, to the millisecond,
 * across all processes. So one index on the id serves every window, page and order of the log. Where
 * clocks are apart, that of the queue counts: by it a worker knows which pushes nobody waits for.
 */
import { randomBytes } from 'node:crypto';

/** Distinguishes the processes; with the counter no two ids are the same. */
const PROCESS_BYTES = 4;
const COUNTER_END = 0x10000;
const COUNTER_DIGITS = 4;
const DIGITS = 24;
const SECONDS_DIGITS = 8;
const LAST_SECOND = 0xffff_ffff;

/**
 * An id is 24 hex digits, stored as ObjectId: seconds (8), milliseconds (4), process (8), counter (4).
 *
 * @param ahead by how much the queue's clock is ahead of the one that tells the time of receipt
 * @returns a function that makes an id from the time of receipt, epoch milliseconds
 */
export function createRequestIds(ahead?: () => number): (receivedAt: number) => string {
  return createIdSource(ahead).ofRequest;
}

/** The ids of one process: of requests, and of the lines of batches among them. */
export interface IdSource {
  /** @param receivedAt epoch milliseconds */
  ofRequest(receivedAt: number): string;
  /**
   * Of the lines of a batch, ascending in their order. They have time and process of the id of their batch, so
   * that `idsBeside` that one finds them.
   */
  ofLines(batchId: string, count: number): string[];
}

export function createIdSource(ahead: () => number = () => 0): IdSource {
  const process = randomBytes(PROCESS_BYTES).toString('hex');
  let counter = 0;
  const take = (count: number) => {
    // A block does not go over the end of the counter.
    const first = counter + count < COUNTER_END ? counter + 1 : 0;
    counter = first + count - 1;
    return first;
  };
  return {
    ofRequest: (receivedAt) =>
      timePart(receivedAt + ahead()) + process + hex(take(1), COUNTER_DIGITS),
    ofLines: (batchId, count) => {
      const begin = batchId.slice(0, -COUNTER_DIGITS);
      const first = take(count);
      return Array.from({ length: count }, (_, at) => begin + hex(first + at, COUNTER_DIGITS));
    },
  };
}

/** @returns the first and the last id that share time and process with this one: few, of one millisecond */
export function idsBeside(id: string): readonly [first: string, last: string] {
  const begin = id.slice(0, -COUNTER_DIGITS);
  return [begin.padEnd(DIGITS, '0'), begin.padEnd(DIGITS, 'f')];
}

/** The smallest id of an instant: where a window begins or ends. @param at epoch milliseconds */
export function firstIdAt(at: number): string {
  return timePart(Math.max(0, at)).padEnd(DIGITS, '0');
}

/**
 * When a request with this id was received, epoch milliseconds. (Ids that the driver made, before
 * they had this form, tell the second only.)
 */
export function receivedAtOf(id: string): number {
  const seconds = Number.parseInt(id.slice(0, SECONDS_DIGITS), 16);
  const milliseconds = Number.parseInt(id.slice(SECONDS_DIGITS, SECONDS_DIGITS + 4), 16);
  return seconds * 1000 + Math.min(milliseconds, 999);
}

/** Above the last one there is none: no process makes it. */
const LAST_ID = 'f'.repeat(DIGITS);

/** The smallest id above this one; of the last one that there is, itself. */
export function idAfter(id: string): string {
  if (id === LAST_ID) return id;
  return (BigInt(`0x${id}`) + 1n).toString(16).padStart(DIGITS, '0');
}

function timePart(at: number): string {
  const seconds = Math.min(Math.floor(at / 1000), LAST_SECOND);
  return hex(seconds, SECONDS_DIGITS) + hex(Math.floor(at) % 1000, 4);
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
