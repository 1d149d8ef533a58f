/**
 * Request ids, which are the ids of push-log entries: in the order of receipt, to the millisecond,
 * across all processes. So one index on the id serves every window, page and order of the log. Where
 * clocks are apart, that of the queue counts: by it a worker knows which pushes nobody waits for.
 */
import { randomBytes } from 'node:crypto';

/** Distinguishes the processes; with the counter no two ids are the same. */
const PROCESS_BYTES = 4;
const COUNTER_END = 0x10000;
const DIGITS = 24;
const SECONDS_DIGITS = 8;
const LAST_SECOND = 0xffff_ffff;

/**
 * An id is 24 hex digits, stored as ObjectId: seconds (8), milliseconds (4), process (8), counter (4).
 *
 * @param ahead by how much the queue's clock is ahead of the one that tells the time of receipt
 * @returns a function that makes an id from the time of receipt, epoch milliseconds
 */
export function createRequestIds(ahead: () => number = () => 0): (receivedAt: number) => string {
  const newIds = createRequestIdBlocks(ahead);
  return (receivedAt) => newIds(receivedAt, 1)[0] ?? '';
}

/** The same, of many requests that came together: their ids ascend in their order. */
export function createRequestIdBlocks(
  ahead: () => number = () => 0,
): (receivedAt: number, size: number) => string[] {
  const process = randomBytes(PROCESS_BYTES).toString('hex');
  let counter = 0;
  return (receivedAt, size) => {
    // A block does not go over the end of the counter.
    const first = counter + size < COUNTER_END ? counter + 1 : 0;
    counter = first + size - 1;
    const begin = timePart(receivedAt + ahead()) + process;
    return Array.from({ length: size }, (_, index) => begin + hex(first + index, 4));
  };
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

/** The smallest id above this one. */
export function idAfter(id: string): string {
  return (BigInt(`0x${id}`) + 1n).toString(16).padStart(DIGITS, '0');
}

function timePart(at: number): string {
  const seconds = Math.min(Math.floor(at / 1000), LAST_SECOND);
  return hex(seconds, SECONDS_DIGITS) + hex(Math.floor(at) % 1000, 4);
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
