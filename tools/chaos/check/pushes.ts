/** The log entries of a run, each with the try that it belongs to and the time it can have had. */
import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import type { Answered, Attempt } from '../history';
import type { Evidence } from './evidence';
import { collectOperations, type SentOperation, type SentOperations } from './sent-operations';

export interface Push {
  /** Request id. */
  readonly id: string;
  readonly entry: LogEntry;
  /** undefined: nobody sent it. */
  readonly sent: SentOperation | undefined;
  /** The try that was answered with its request id. */
  readonly attempt: Attempt | undefined;
  /** Since when it can have been decided, by the clock of the history. */
  readonly sentAt: number;
  /** Until when a worker may take it up: epoch milliseconds of the servers' clock. */
  readonly deadline: number;
  /** By when it was decided: its caller was told. Infinity where nobody was told anything definite. */
  readonly toldAt: number;
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
    if (attempt.end.kind === 'answered') attempts.set(attempt.end.requestId, attempt);
  }
  const toldByReplay = findReplays(entries, attempts);
  const all = entries.map((entry): Push => {
    const id = String(entry._id);
    const sent = operations.of(entry);
    const attempt = attempts.get(id);
    const tries = attempt ? [attempt] : (sent?.unanswered ?? []);
    return {
      id,
      entry,
      sent,
      attempt,
      sentAt: earliest(tries),
      deadline: entry.deadlineAt.getTime() - slowest(tries, history.clockShifts),
      toldAt: Math.min(toldAt(attempt), toldByReplay.get(id) ?? Number.POSITIVE_INFINITY),
    };
  });
  return { all, byId: new Map(all.map((push) => [push.id, push])), operations };
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
