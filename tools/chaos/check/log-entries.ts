/** Checks the log entries: each comes from a request, gets a final state, and has an effect only by its deadline. */
import type { Violation } from './evidence';
import { beganInTime, type CheckedPush, type SentOperation } from './pushes';

/** A rejected push may come from any sender, any other push only from the callers of the run. */
export function checkSenders(pushes: readonly CheckedPush[]): Violation[] {
  const withoutAnswer = new Map<SentOperation, number>();
  return pushes.flatMap((push) => {
    const what = strangeness(push, withoutAnswer);
    return what === undefined ? [] : [{ rule: 'phantom', requestId: push.id, what }];
  });
}

/** @param withoutAnswer counts the entries of an operation whose request id is in no answer */
function strangeness(
  { entry, sent, attempt }: CheckedPush,
  withoutAnswer: Map<SentOperation, number>,
): string | undefined {
  const { state, operation, clientId, bodyHash } = entry;
  if (!sent) {
    if (state === 'REFUSED') return undefined;
    return `${state} ${operation} of ${clientId}, body ${bodyHash.slice(0, 12)}: no caller sent it`;
  }
  const { systemCode, idempotencyKey } = sent.first;
  if (entry.systemCode !== systemCode) return `system ${entry.systemCode}, expected ${systemCode}`;
  if (entry.idempotencyKey !== idempotencyKey) {
    return `key ${entry.idempotencyKey}, expected ${idempotencyKey}`;
  }
  if (attempt) return undefined;
  const count = (withoutAnswer.get(sent) ?? 0) + 1;
  withoutAnswer.set(sent, count);
  const tries = sent.unanswered.length;
  return count > tries
    ? `${state} ${operation}: entry ${count} that no answer names, of ${tries} unanswered tries`
    : undefined;
}

export function checkSettled(pushes: readonly CheckedPush[]): Violation[] {
  return pushes.flatMap((push): Violation[] => {
    const { id, entry, deadline } = push;
    const { state, startedAt, receivedAt } = entry;
    if (state === 'QUEUED') {
      const what = `received ${receivedAt.toISOString()}, still QUEUED: a final state is expected`;
      return [{ rule: 'settled', requestId: id, what }];
    }
    if (state !== 'PERSISTED' || beganInTime(push)) return [];
    const started = startedAt?.toISOString() ?? 'never';
    const what = `took effect, read at ${started}, after its deadline ${new Date(deadline).toISOString()}`;
    return [{ rule: 'late-effect', requestId: id, what }];
  });
}
