/** Compares the answers to callers with the log, and checks that valid requests were not rejected. */

import type { LogEntry } from '../../../src/storage/push-log';
import type { AnsweredAttempt, ChaosHistory, PushAttempt } from '../history';
import type { Rule, Violation } from './evidence';
import { isOfState } from './matter-cases';
import { beganInTime, type CheckedPush, type CheckedPushes, type SentOperations } from './pushes';
import { shownTime } from './spans';

/** Rejections before the sender was identified: they have no entry. */
const UNKNOWN_SENDER: ReadonlySet<string | undefined> = new Set([
  'MALFORMED_REQUEST',
  'BODY_INCOMPLETE',
  'PATH_NOT_FOUND',
]);

/** Rejections that are recorded at a limited rate, or not at all. */
const MAY_LACK_ENTRY: ReadonlySet<number> = new Set([401, 403, 405, 408, 413, 415, 429]);

type Answered = PushAttempt & { readonly end: AnsweredAttempt };

export function checkAnswers({ attempts }: ChaosHistory, pushes: CheckedPushes): Violation[] {
  const seen = new Set<string>();
  return attempts.flatMap((attempt) => {
    if (!isAnswered(attempt)) return [];
    const { requestId, ofBatch } = attempt.end;
    // An answer to a whole batch applies to all its lines.
    const isRepeated = seen.has(requestId) && !(ofBatch && attempt.batch?.line !== 1);
    seen.add(requestId);
    const [rule, what] = isRepeated
      ? (['answer-agrees', 'two requests have this id in their answers'] as const)
      : (judge(attempt, pushes) ?? []);
    if (!rule || !what) return [];
    const { systemCode, name, sentAt } = attempt;
    const request = `${name} of ${systemCode} sent at ${shownTime(sentAt)}, answered ${briefly(attempt.end)}`;
    return [{ rule, requestId, what: `${request}: ${what}` }];
  });
}

const isAnswered = (attempt: PushAttempt): attempt is Answered => attempt.end.kind === 'answered';

/** @returns the rule that the answer breaks, and how; undefined if it breaks none */
function judge(attempt: Answered, pushes: CheckedPushes): readonly [Rule, string] | undefined {
  const { end } = attempt;
  const push = end.ofBatch ? undefined : pushes.byId.get(end.requestId);
  if (push && push.sent !== pushes.operations.triedBy(attempt)) {
    return ['answer-agrees', 'its entry belongs to another push'];
  }
  if (end.status !== (end.code || 200)) {
    return ['answer-agrees', `HTTP status ${end.status} differs from the code`];
  }
  // A batch has no entry of its own, and checkSenders detects entries of its lines.
  if (end.ofBatch) return undefined;
  const wrong = end.code === 0 ? unlikeSuccess(end, push) : unlikeFailure(end, push);
  if (wrong === undefined) return undefined;
  const seen = push ? described(push.entry) : 'no entry';
  return [end.code === 0 ? 'acknowledged' : 'answer-agrees', `the log has ${seen}, ${wrong}`];
}

function unlikeSuccess(end: AnsweredAttempt, push: CheckedPush | undefined): string | undefined {
  const expected = end.replayed ? 'REPLAYED' : 'PERSISTED';
  const { state, result, matterId, externalId } = push?.entry ?? {};
  const isSame =
    state === expected &&
    result === end.outcome &&
    String(matterId) === end.matterId &&
    externalId === end.externalId;
  return isSame
    ? undefined
    : `expected ${expected} ${end.outcome} of ${end.externalId}, matter ${end.matterId}`;
}

function unlikeFailure(end: AnsweredAttempt, push: CheckedPush | undefined): string | undefined {
  const { code, reason } = end;
  const entry = push?.entry;
  const isRejected = entry?.state === 'REFUSED';
  const isRejectedSo = isRejected && entry.result === reason;
  if (code === 504)
    return isOpenEnd(push) ? undefined : 'expected EXPIRED, or a push that was read in time';
  if (code === 400 || code === 404) {
    if (isRejectedSo || (!entry && UNKNOWN_SENDER.has(reason))) return undefined;
    return `expected REFUSED ${reason}`;
  }
  if (MAY_LACK_ENTRY.has(code)) {
    return !entry || isRejectedSo ? undefined : `expected REFUSED ${reason}, or none`;
  }
  if (code === 500 || code === 503) {
    const hasNoEffect = !entry || isRejected || entry.state === 'EXPIRED';
    return hasNoEffect ? undefined : 'expected an entry without an effect, or none';
  }
  return 'no answer of the service has this code';
}

/**
 * The final states of a push whose caller was answered that the outcome is unknown. A web process that cannot reach
 * the queue finalizes the push in the log. If the database's answer is lost, the caller cannot learn the final state.
 */
function isOpenEnd(push: CheckedPush | undefined): boolean {
  if (!push || push.entry.state === 'QUEUED') return false;
  const { state, result } = push.entry;
  const wasEndedUnheard = state === 'REFUSED' && result === 'QUEUE_UNAVAILABLE';
  return state === 'EXPIRED' || wasEndedUnheard || beganInTime(push);
}

const briefly = ({ code, reason, replayed }: AnsweredAttempt) =>
  [code, reason, replayed && 'replayed'].filter((it) => it !== undefined && it !== false).join(' ');

function described({ state, result, externalId, matterId }: LogEntry): string {
  const matter = matterId === undefined ? '' : `, matter ${matterId}`;
  return `${state} ${result ?? ''} of ${externalId}${matter}`;
}

/** The service is unavailable, or the outcome is unknown. Any request may get these codes. */
const UNAVAILABLE: ReadonlySet<number> = new Set([503, 504]);
const INVALID = 'VALIDATION_FAILED';

/**
 * The callers of a run are registered, sign correctly, respect every size limit, have no rate limit, and never send
 * the same body for two operations. So a rejection needs an invalid body, a state of the matter (see placement.ts) or
 * a fault.
 */
export function checkRejections(
  { attempts }: ChaosHistory,
  operations: SentOperations,
): Violation[] {
  return attempts.flatMap((attempt): Violation[] => {
    const { end, name, web, sentAt } = attempt;
    if (end.kind !== 'answered') return [];
    const isValid = operations.triedBy(attempt)?.parsed() !== undefined;
    if (UNAVAILABLE.has(end.code) || isDue(end, isValid)) return [];
    const expected = isValid
      ? 'a rejection because of the state of its matter, or none'
      : `a rejection, ${INVALID}`;
    const request = `${name} to ${web}, sent at ${shownTime(sentAt)}`;
    const what = `${request}, answered ${end.code} ${end.reason ?? ''}: expected ${expected}`;
    return [{ rule: 'wrongly-rejected', requestId: end.requestId, what }];
  });
}

/** @param isValid whether the contract accepts the body */
function isDue({ code, reason }: AnsweredAttempt, isValid: boolean): boolean {
  if (!isValid) return code === 400 && reason === INVALID;
  return code === 0 || ((code === 400 || code === 404) && isOfState(reason));
}
