/** Connects each log entry of a run with its try, and with the times between which it was decided. */

import { createHash } from 'node:crypto';
import type { Types } from 'mongoose';
import { createBodyParsers, type ParsedBody } from '../../../src/protocol/requests';
import type { LogEntry } from '../../../src/storage/push-log';
import { type AnsweredAttempt, type ChaosHistory, isUnknown, type PushAttempt } from '../history';
import type { Evidence } from './evidence';

export interface CheckedPush {
  /** Request id. */
  readonly id: string;
  readonly entry: LogEntry;
  /** Undefined if no caller sent it. */
  readonly sent: SentOperation | undefined;
  /** The try whose answer has its request id. */
  readonly attempt: PushAttempt | undefined;
  /** Absent for a single push. */
  readonly batch: LineOfBatch | undefined;
  /** The earliest time of its decision, by the clock of the history. */
  readonly sentAt: number;
  /** Until when a worker may read it: epoch milliseconds of the servers' clock. */
  readonly deadline: number;
  /** When its caller got a definite answer, so that it was decided; Infinity without such an answer. */
  readonly answeredAt: number;
}

/** The batch and the line in its entry. */
export interface LineOfBatch {
  /** The request id of the batch. */
  readonly id: Types.ObjectId;
  /** 1-based. */
  readonly line: number;
}

function lineOfBatch({ batchId: id, batchLine: line }: LogEntry): LineOfBatch | undefined {
  return id === undefined || line === undefined ? undefined : { id, line };
}

export interface CheckedPushes {
  readonly all: readonly CheckedPush[];
  readonly byId: ReadonlyMap<string, CheckedPush>;
  readonly operations: SentOperations;
}

export function indexPushes({ history, entries, timeZone }: Evidence): CheckedPushes {
  const operations = collectOperations(history, timeZone);
  const attempts = new Map<string, PushAttempt>();
  for (const attempt of history.attempts) {
    const { end } = attempt;
    if (end.kind === 'answered' && !end.ofBatch) attempts.set(end.requestId, attempt);
  }
  const answeredByReplay = findReplays(entries, attempts);
  const pushes = entries.map((entry): CheckedPush => {
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
      answeredAt: Math.min(
        answeredAt(attempt),
        answeredByReplay.get(id) ?? Number.POSITIVE_INFINITY,
      ),
    };
  });
  const all = withBatchTimes(pushes);
  return { all, byId: new Map(all.map((push) => [push.id, push])), operations };
}

/** All lines of a batch were sent at the same time: the latest of their earliest times. */
function withBatchTimes(pushes: readonly CheckedPush[]): CheckedPush[] {
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
 * A retry that repeats the outcome of its first try shows that the first try was applied by then, whatever its answer
 * was.
 *
 * @returns the time of the earliest of these answers, by request id of the first try
 */
function findReplays(
  entries: readonly LogEntry[],
  attempts: ReadonlyMap<string, PushAttempt>,
): Map<string, number> {
  const earliestAnswers = new Map<string, number>();
  for (const { _id, duplicateOf } of entries) {
    if (!duplicateOf) continue;
    const time = answeredAt(attempts.get(String(_id)));
    const first = String(duplicateOf);
    const known = earliestAnswers.get(first) ?? Number.POSITIVE_INFINITY;
    earliestAnswers.set(first, Math.min(time, known));
  }
  return earliestAnswers;
}

/** Any of the unanswered tries may have created the entry. */
function earliest(tries: readonly PushAttempt[]): number {
  if (tries.length === 0) return Number.NEGATIVE_INFINITY;
  return Math.min(...tries.map(({ sentAt }) => sentAt));
}

/** An entry has the time of its web process, whose clock may be wrong. Any of the tries may have created it. */
function slowest(tries: readonly PushAttempt[], shifts: ReadonlyMap<string, number>): number {
  if (tries.length === 0) return Math.min(0, ...shifts.values());
  return Math.min(...tries.map(({ web }) => shifts.get(web) ?? 0));
}

/** After a 5xx it is unknown whether and when the push is decided. */
function answeredAt(attempt: PushAttempt | undefined): number {
  if (attempt?.end.kind !== 'answered') return Number.POSITIVE_INFINITY;
  return isDefinite(attempt.end) ? attempt.endedAt : Number.POSITIVE_INFINITY;
}

const isDefinite = ({ code }: AnsweredAttempt) => code < 500;

/** Whether a worker read the push before its deadline. */
export function beganInTime({ entry: { startedAt }, deadline }: CheckedPush): boolean {
  return startedAt !== undefined && startedAt.getTime() <= deadline;
}

/** All tries of an operation. */
export interface SentOperation {
  /** Its first try. All tries have the same client, system, name, body and key. */
  readonly first: PushAttempt;
  /** The tries with an unknown result. */
  readonly unanswered: readonly PushAttempt[];
  /** Parses its body as the contract does; undefined if the body is invalid. */
  parsed(): ParsedBody | undefined;
}

export interface SentOperations {
  /** The operation of an entry; undefined if no caller sent it. */
  of(entry: Pick<LogEntry, 'clientId' | 'operation' | 'bodyHash'>): SentOperation | undefined;
  /** The operation of an attempt. */
  triedBy(attempt: PushAttempt): SentOperation | undefined;
}

interface Tries {
  readonly first: PushAttempt;
  readonly unanswered: PushAttempt[];
}

/** @throws Error if two operations have the same body, which is a defect of the harness */
export function collectOperations(history: ChaosHistory, timeZone: string): SentOperations {
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

type Reader = (attempt: PushAttempt) => ParsedBody | undefined;
/** By time zone, because creating the schemas takes longer than parsing a hundred bodies. */
const readers = new Map<string, Reader>();

function readerOf(timeZone: string): Reader {
  const reader = readers.get(timeZone) ?? createReader(timeZone);
  readers.set(timeZone, reader);
  return reader;
}

function createReader(timeZone: string): Reader {
  // The web process has checked whether a time was too far in the future.
  const parsers = createBodyParsers({ timeZone, clock: () => Number.POSITIVE_INFINITY });
  return ({ name, body }) => {
    try {
      return parsers[name](JSON.parse(body)).data;
    } catch {
      // The body is invalid, so it must not take effect.
      return undefined;
    }
  };
}
