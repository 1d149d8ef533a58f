/** Checks whether a run is meaningful: a service that does no work breaks no promise. */
import { isAccepted, type PushAttempt } from '../history';
import type { Evidence, Violation } from './evidence';
import { collectOperations } from './pushes';
import { createSpans, shownTime } from './spans';

/** Share of the valid operations, and of the duration of the run. */
const LEAST_SERVED = 0.5;
const MAX_STALLED = 0.1;

/** @returns the violations that make the whole run meaningless */
export function checkSoundness({ history, timeZone }: Evidence): Violation[] {
  return [...checkServed(history, timeZone), ...checkMeasurable(history)];
}

function checkServed(history: Evidence['history'], timeZone: string): Violation[] {
  const sent = collectOperations(history, timeZone);
  const isValid = new Map<number, boolean>();
  const valid = history.attempts.filter((attempt) => {
    const { operation } = attempt;
    const known = isValid.get(operation) ?? sent.triedBy(attempt)?.parsed() !== undefined;
    isValid.set(operation, known);
    return known;
  });
  const { operations, accepted, rejected } = countOperations(valid);
  if (accepted > 0 && accepted + rejected >= LEAST_SERVED * operations) return [];
  const what =
    `of ${operations} valid operations ${accepted} were accepted and ${rejected} rejected ` +
    'because of a state: expected half of them';
  return [{ rule: 'served', what }];
}

function checkMeasurable({ attempts, stalls }: Evidence['history']): Violation[] {
  const from = attempts.reduce((least, { sentAt }) => Math.min(least, sentAt), Infinity);
  const to = attempts.reduce((latest, { endedAt }) => Math.max(latest, endedAt), -Infinity);
  const stalled = createSpans(stalls).lasted(from, to);
  if (attempts.length === 0 || stalled <= MAX_STALLED * (to - from)) return [];
  const seen = `${shownTime(stalled)} of ${shownTime(to - from)}`;
  const what = `not measurable: the harness stalled for ${seen}`;
  return [{ rule: 'measurable', what }];
}

/** Operations by result, each with all its tries. */
export interface OperationCounts {
  readonly operations: number;
  /** A try was answered 0. */
  readonly accepted: number;
  /** No try was answered 0, and the last one was finally rejected. */
  readonly rejected: number;
  /** The last try left the result unknown: its caller gave up, or the run ended. */
  readonly givenUp: number;
}

/** @param attempts in the order in which they ended */
export function countOperations(attempts: readonly PushAttempt[]): OperationCounts {
  const last = new Map<number, PushAttempt['end']>();
  const accepted = new Set<number>();
  for (const { operation, end } of attempts) {
    last.set(operation, end);
    if (isAccepted(end)) accepted.add(operation);
  }
  const others = [...last].filter(([operation]) => !accepted.has(operation));
  const rejected = others.filter(([, end]) => isRejection(end)).length;
  return {
    operations: last.size,
    accepted: accepted.size,
    rejected,
    givenUp: others.length - rejected,
  };
}

/** A 400 or 404. Other rejections do not depend on the operation. */
function isRejection(end: PushAttempt['end']): boolean {
  return end.kind === 'answered' && (end.code === 400 || end.code === 404);
}
