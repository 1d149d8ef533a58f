/** Spoils the evidence of a chaos run in one place, and says which rules it breaks. */

import type { Matter } from '../../src/domain/matter';
import type { LogEntry } from '../../src/storage/push-log/entry';
import { check } from '../../tools/chaos/check/check';
import type { Evidence, Rule } from '../../tools/chaos/check/evidence';
import type { BatchAnswer, Fault, PushAttempt, Span } from '../../tools/chaos/history';
import type { Sent } from './chaos-evidence';

/** The rules that a run breaks, each once, in the order of their names. */
export function brokenRules(evidence: Evidence): Rule[] {
  return [...new Set(check(evidence).map(({ rule }) => rule))].sort();
}

/** The evidence with something else in one entry. */
export function withEntry(
  evidence: Evidence,
  { requestId }: Pick<Sent, 'requestId'>,
  change: Partial<LogEntry>,
): Evidence {
  const entries = evidence.entries.map((entry) =>
    String(entry._id) === requestId ? { ...entry, ...change } : entry,
  );
  return { ...evidence, entries };
}

export function withoutEntry(evidence: Evidence, { requestId }: Pick<Sent, 'requestId'>): Evidence {
  const entries = evidence.entries.filter(({ _id }) => String(_id) !== requestId);
  return { ...evidence, entries };
}

/** The evidence with something else in the answer that names a request id. */
export function withAnswer(
  evidence: Evidence,
  { requestId }: Pick<Sent, 'requestId'>,
  change: Readonly<Record<string, unknown>>,
): Evidence {
  const attempts = evidence.history.attempts.map((attempt): PushAttempt => {
    const { end } = attempt;
    if (end.kind !== 'answered' || end.requestId !== requestId) return attempt;
    return { ...attempt, end: { ...end, ...change } };
  });
  return { ...evidence, history: { ...evidence.history, attempts } };
}

/** The evidence with something else in the answers to all batches. */
export function withBatchAnswers(evidence: Evidence, change: Partial<BatchAnswer>): Evidence {
  const { history } = evidence;
  const batches = history.batches.map(({ answer, ...batch }) => ({
    ...batch,
    ...(answer && { answer: { ...answer, ...change } }),
  }));
  return { ...evidence, history: { ...history, batches } };
}

/** The evidence with something else in every stored matter. */
export function withMatters(
  evidence: Evidence,
  change: (matter: Matter) => Partial<Matter>,
): Evidence {
  const matters = evidence.matters.map((matter) => ({ ...matter, ...change(matter) }));
  return { ...evidence, matters };
}

/** The evidence with more faults. */
export function withFaults(evidence: Evidence, ...faults: readonly Fault[]): Evidence {
  const { history } = evidence;
  return { ...evidence, history: { ...history, faults: [...history.faults, ...faults] } };
}

/** The evidence of a harness that stood still at these times. */
export function withStalls(evidence: Evidence, ...stalls: readonly Span[]): Evidence {
  return { ...evidence, history: { ...evidence.history, stalls } };
}

export function withServerStalls(evidence: Evidence, ...serverStalls: readonly Span[]): Evidence {
  return { ...evidence, history: { ...evidence.history, serverStalls } };
}
