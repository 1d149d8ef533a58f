/** Entries of the log that go back to nobody's request. */
import type { Violation } from './evidence';
import type { Push } from './pushes';
import type { SentOperation } from './sent-operations';

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
