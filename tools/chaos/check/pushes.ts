/** The log entries of a run, each with the try that it belongs to and the time it can have had. */

import { createHash } from 'node:crypto';
import type { Types } from 'mongoose';
import { createBodyParsers, type ParsedBody } from '../../../src/protocol/requests';
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import { type Answered, type Attempt, type History, isUnknown } from '../history';
import type { Evidence } from './evidence';

export interface Push {
  /** Request id. */
  readonly id: string;
  readonly entry: LogEntry;
  /** undefined: nobody sent it. */
  readonly sent: SentOperation | undefined;
  /** The try that was answered with its request id. */
  readonly attempt: Attempt | undefined;
  /** Of a line of a batch: where it stood. */
  readonly batch: LineOfBatch | undefined;
  /** Since when it can have been decided, by the clock of the history. */
  readonly sentAt: number;
  /** Until when a worker may take it up: epoch milliseconds of the servers' clock. */
  readonly deadline: number;
  /** By when it was decided: its caller was told. Infinity where nobody was told anything definite. */
  readonly toldAt: number;
}

/** As its entry says it. */
export interface LineOfBatch {
  /** The request id of the batch. */
  readonly id: Types.ObjectId;
  /** 1-based. */
  readonly line: number;
}

function lineOfBatch({ batchId: id, batchLine: line }: LogEntry): LineOfBatch | undefined {
  return id === undefined || line === undefined ? undefined : { id, line };
}

export interface Pushes {
  readonly all: readonly Push[];
  readonly byId: ReadonlyMap<string, Push>;
  readonly operations: SentOperations;
}

export function indexPushes({ history, entries, timeZone }: Evidence): Pushes {
  const operations = collectOperations(history, timeZone);
  const attempts = new Map<string, Attempt>();
  for (const attempt of history.attempts) {
    const { end } = attempt;
    if (end.kind === 'answered' && !end.ofBatch) attempts.set(end.requestId, attempt);
  }
  const toldByReplay = findReplays(entries, attempts);
  const pushes = entries.map((entry): Push => {
    const id = String(entry._id);
    const sent = operations.of(entry);
    const attempt = attempts.get(id);
    const tries = attempt ? [attempt] : (sent?.unanswered ?? []);
    return {
      id,
      entry,
      sent,
      attempt,
      batch: lineOfBatch(entry),
      sentAt: earliest(tries),
      deadline: entry.deadlineAt.getTime() - slowest(tries, history.clockShifts),
      toldAt: Math.min(toldAt(attempt), toldByReplay.get(id) ?? Number.POSITIVE_INFINITY),
    };
  });
  const all = withBatchTimes(pushes);
  return { all, byId: new Map(all.map((push) => [push.id, push])), operations };
}

/** All lines of a batch were sent at once, not before the latest of the times that they can have had. */
function withBatchTimes(pushes: readonly Push[]): Push[] {
  const since = new Map<string, number>();
  for (const { batch, sentAt } of pushes) {
    if (!batch) continue;
    const id = String(batch.id);
    since.set(id, Math.max(sentAt, since.get(id) ?? Number.NEGATIVE_INFINITY));
  }
  return pushes.map((push) =>
    push.batch ? { ...push, sentAt: since.get(String(push.batch.id)) ?? push.sentAt } : push,
  );
}

/**
 * A retry that is answered with the outcome of its first try tells the caller that the first try
 * was applied by then, whatever its own answer was.
 *
 * @returns by request id of the first try, the earliest of these answers
 */
function findReplays(
  entries: readonly LogEntry[],
  attempts: ReadonlyMap<string, Attempt>,
): Map<string, number> {
  const told = new Map<string, number>();
  for (const { _id, duplicateOf } of entries) {
    if (!duplicateOf) continue;
    const time = toldAt(attempts.get(String(_id)));
    const first = String(duplicateOf);
    told.set(first, Math.min(time, told.get(first) ?? Number.POSITIVE_INFINITY));
  }
  return told;
}

/** Any of the unanswered tries may have left the entry. */
function earliest(tries: readonly Attempt[]): number {
  if (tries.length === 0) return Number.NEGATIVE_INFINITY;
  return Math.min(...tries.map(({ sentAt }) => sentAt));
}

/** Whatever may have left it: an entry has the time of its web process, whose clock may be wrong. */
function slowest(tries: readonly Attempt[], shifts: ReadonlyMap<string, number>): number {
  if (tries.length === 0) return Math.min(0, ...shifts.values());
  return Math.min(...tries.map(({ web }) => shifts.get(web) ?? 0));
}

/** A 5xx leaves open whether, and when, the push is decided. */
function toldAt(attempt: Attempt | undefined): number {
  if (attempt?.end.kind !== 'answered') return Number.POSITIVE_INFINITY;
  return isDefinite(attempt.end) ? attempt.endedAt : Number.POSITIVE_INFINITY;
}

const isDefinite = ({ code }: Answered) => code < 500;

/** Whether a worker took the push up before its caller stopped waiting. */
export function beganInTime({ entry: { startedAt }, deadline }: Push): boolean {
  return startedAt !== undefined && startedAt.getTime() <= deadline;
}

/** What callers sent: all tries of an operation together, found again by what its entries say. */
export interface SentOperation {
  /** Its first try: client, system, name, body and key are those of all. */
  readonly first: Attempt;
  /** The tries of which nobody knows what became. */
  readonly unanswered: readonly Attempt[];
  /** As the contract reads its body, each time anew; undefined where it rejects it. */
  parsed(): ParsedBody | undefined;
}

export interface SentOperations {
  /** The operation that an entry belongs to; undefined where nobody sent it. */
  of(entry: Pick<LogEntry, 'clientId' | 'operation' | 'bodyHash'>): SentOperation | undefined;
  /** The operation that an attempt tries. */
  triedBy(attempt: Attempt): SentOperation | undefined;
}

interface Tries {
  readonly first: Attempt;
  readonly unanswered: Attempt[];
}

/** @throws Error where two operations cannot be told apart: the callers of the run are at fault */
export function collectOperations(history: History, timeZone: string): SentOperations {
  const parse = readerOf(timeZone);
  const tries = new Map<number, Tries>();
  for (const attempt of history.attempts) {
    const known = tries.get(attempt.operation) ?? { first: attempt, unanswered: [] };
    if (known.first === attempt) tries.set(attempt.operation, known);
    if (isUnknown(attempt.end)) known.unanswered.push(attempt);
  }
  const byNumber = new Map<number, SentOperation>();
  const byIdentity = new Map<string, SentOperation>();
  for (const [number, { first, unanswered }] of tries) {
    const { clientId, name: operation, body } = first;
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const identity = identityOf({ clientId, operation, bodyHash });
    if (byIdentity.has(identity)) throw new Error(`operation ${number} has the body of another`);
    const sent = { first, unanswered, parsed: () => parse(first) };
    byNumber.set(number, sent);
    byIdentity.set(identity, sent);
  }
  return {
    of: (entry) => byIdentity.get(identityOf(entry)),
    triedBy: (attempt) => byNumber.get(attempt.operation),
  };
}

function identityOf(entry: Pick<LogEntry, 'clientId' | 'operation' | 'bodyHash'>): string {
  return [entry.clientId, entry.operation, entry.bodyHash].join('\n');
}

type Reader = (attempt: Attempt) => ParsedBody | undefined;
/** By the time zone: making the schemas takes longer than to read a hundred bodies. */
const readers = new Map<string, Reader>();

function readerOf(timeZone: string): Reader {
  const reader = readers.get(timeZone) ?? createReader(timeZone);
  readers.set(timeZone, reader);
  return reader;
}

function createReader(timeZone: string): Reader {
  // Whether an instant lay too far ahead was for the web process to say, at its time.
  const parsers = createBodyParsers({ timeZone, clock: () => Number.POSITIVE_INFINITY });
  return ({ name, body }) => {
    try {
      return parsers[name](JSON.parse(body)).data;
    } catch {
      // Not parsing is the answer itself: such a body must not take effect.
      return undefined;
    }
  };
}
