/** Entries of the log: each goes back to a request, ends settled, and takes effect in time or not at all. */
import type { Violation } from './evidence';
import { beganInTime, type Push, type SentOperation } from './pushes';

/** What is rejected may have been sent by anybody; everything else only by the callers of the run. */
export function checkSenders(pushes: readonly Push[]): Violation[] {
  const withoutAnswer = new Map<SentOperation, number>();
  return pushes.flatMap((push) => {
    const what = strangeness(push, withoutAnswer);
    return what === undefined ? [] : [{ rule: 'phantom', requestId: push.id, what }];
  });
}

/** @param withoutAnswer counts the entries of an operation that no answer names */
function strangeness(
  { entry, sent, attempt }: Push,
  withoutAnswer: Map<SentOperation, number>,
): string | undefined {
  const { state, operation, clientId, bodyHash } = entry;
  if (!sent) {
    if (state === 'REFUSED') return undefined;
    return `${state} ${operation} of ${clientId}, body ${bodyHash.slice(0, 12)}: nobody sent it`;
  }
  const { systemCode, idempotencyKey } = sent.first;
  if (entry.systemCode !== systemCode) return `${entry.systemCode} where ${systemCode} was sent`;
  if (entry.idempotencyKey !== idempotencyKey) {
    return `key ${entry.idempotencyKey} where ${idempotencyKey} was sent`;
  }
  if (attempt) return undefined;
  const count = (withoutAnswer.get(sent) ?? 0) + 1;
  withoutAnswer.set(sent, count);
  const tries = sent.unanswered.length;
  return count > tries
    ? `${state} ${operation}: entry ${count} that no answer names, of ${tries} unanswered tries`
    : undefined;
}

export function checkSettled(pushes: readonly Push[]): Violation[] {
  return pushes.flatMap((push): Violation[] => {
    const { id, entry, deadline } = push;
    const { state, startedAt, receivedAt } = entry;
    if (state === 'QUEUED') {
      const what = `received ${receivedAt.toISOString()}, still QUEUED: a final state is due`;
      return [{ rule: 'settled', requestId: id, what }];
    }
    if (state !== 'PERSISTED' || beganInTime(push)) return [];
    const started = startedAt?.toISOString() ?? 'never';
    const what = `took effect, taken up ${started}: due by ${new Date(deadline).toISOString()}`;
    return [{ rule: 'late-effect', requestId: id, what }];
  });
}
