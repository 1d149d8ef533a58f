/**
 * What callers were told, held against what the log says became of their pushes; and whether good
 * requests were rejected, which is no service.
 */

import type { LogEntry } from '../../../src/storage/push-log/entry-model';
import type { Answered, Attempt, History } from '../history';
import type { Rule, Violation } from './evidence';
import { isOfState } from './matter-cases';
import { beganInTime, type Push, type Pushes, type SentOperations } from './pushes';
import { shownTime } from './spans';

/** Rejections before it was known who sent the request: they have no entry. */
const UNKNOWN_SENDER: ReadonlySet<string | undefined> = new Set([
  'MALFORMED_REQUEST',
  'BODY_INCOMPLETE',
  'PATH_NOT_FOUND',
]);

/** Rejections that are recorded at a bounded rate, or not at all. */
const MAY_LACK_ENTRY: ReadonlySet<number> = new Set([401, 403, 405, 408, 413, 415, 429]);

type Told = Attempt & { readonly end: Answered };

export function checkAnswers({ attempts }: History, pushes: Pushes): Violation[] {
  const seen = new Set<string>();
  return attempts.flatMap((attempt) => {
    if (!wasTold(attempt)) return [];
    const { requestId, ofBatch } = attempt.end;
    // The one answer to a batch is that of all its lines.
    const isRepeated = seen.has(requestId) && !(ofBatch && attempt.batch?.line !== 1);
    seen.add(requestId);
    const [rule, what] = isRepeated
      ? (['answer-agrees', 'two requests were answered with this id'] as const)
      : (judge(attempt, pushes) ?? []);
    if (!rule || !what) return [];
    const { systemCode, name, sentAt } = attempt;
    const about = `${name} of ${systemCode} sent at ${shownTime(sentAt)}, answered ${briefly(attempt.end)}`;
    return [{ rule, requestId, what: `${about}: ${what}` }];
  });
}

const wasTold = (attempt: Attempt): attempt is Told => attempt.end.kind === 'answered';

/** @returns the rule that the answer breaks and how; undefined where it holds */
function judge(attempt: Told, pushes: Pushes): readonly [Rule, string] | undefined {
  const { end } = attempt;
  const push = end.ofBatch ? undefined : pushes.byId.get(end.requestId);
  if (push && push.sent !== pushes.operations.triedBy(attempt)) {
    return ['answer-agrees', 'its entry is of another push'];
  }
  if (end.status !== (end.code || 200)) {
    return ['answer-agrees', `HTTP status ${end.status}, which is another one`];
  }
  // It has no entry of its own: that its lines have none is for checkSenders to see.
  if (end.ofBatch) return undefined;
  const wrong = end.code === 0 ? unlikeSuccess(end, push) : unlikeFailure(end, push);
  if (wrong === undefined) return undefined;
  const seen = push ? described(push.entry) : 'no entry';
  return [end.code === 0 ? 'acknowledged' : 'answer-agrees', `the log has ${seen}, ${wrong}`];
}

function unlikeSuccess(end: Answered, push: Push | undefined): string | undefined {
  const due = end.replayed ? 'REPLAYED' : 'PERSISTED';
  const { state, result, matterId, externalId } = push?.entry ?? {};
  const isSame =
    state === due &&
    result === end.outcome &&
    String(matterId) === end.matterId &&
    externalId === end.externalId;
  return isSame
    ? undefined
    : `due is ${due} ${end.outcome} of ${end.externalId}, matter ${end.matterId}`;
}

function unlikeFailure(end: Answered, push: Push | undefined): string | undefined {
  const { code, reason } = end;
  const entry = push?.entry;
  const isRejected = entry?.state === 'REFUSED';
  const isRejectedSo = isRejected && entry.result === reason;
  if (code === 504) return isOpenEnd(push) ? undefined : 'due is EXPIRED, or one begun in time';
  if (code === 400 || code === 404) {
    if (isRejectedSo || (!entry && UNKNOWN_SENDER.has(reason))) return undefined;
    return `due is REFUSED ${reason}`;
  }
  if (MAY_LACK_ENTRY.has(code)) {
    return !entry || isRejectedSo ? undefined : `due is REFUSED ${reason}, or none`;
  }
  if (code === 500 || code === 503) {
    const hasNoEffect = !entry || isRejected || entry.state === 'EXPIRED';
    return hasNoEffect ? undefined : 'due is one without an effect, or none';
  }
  return 'no answer of the service has this code';
}

/**
 * What may become of a push whose caller was told that the outcome is open. A web process that cannot
 * reach the queue ends the push in the log; where the log's answer to that is lost, it cannot say so.
 */
function isOpenEnd(push: Push | undefined): boolean {
  if (!push || push.entry.state === 'QUEUED') return false;
  const { state, result } = push.entry;
  const wasEndedUnheard = state === 'REFUSED' && result === 'QUEUE_UNAVAILABLE';
  return state === 'EXPIRED' || wasEndedUnheard || beganInTime(push);
}

const briefly = ({ code, reason, replayed }: Answered) =>
  [code, reason, replayed && 'replayed'].filter((it) => it !== undefined && it !== false).join(' ');

function described({ state, result, externalId, matterId }: LogEntry): string {
  const matter = matterId === undefined ? '' : `, matter ${matterId}`;
  return `${state} ${result ?? ''} of ${externalId}${matter}`;
}

/** The service cannot take it, or cannot say yet: open to every request, whatever is in it. */
const UNAVAILABLE: ReadonlySet<number> = new Set([503, 504]);
const INVALID = 'VALIDATION_FAILED';

/**
 * The callers of a run are known, sign what they send, keep to every size and have no rate, and no
 * two of their bodies are the same: nothing but a body that does not pass, the state of a matter
 * (which placement judges) or a fault is a reason to reject them.
 */
export function checkRejections({ attempts }: History, operations: SentOperations): Violation[] {
  return attempts.flatMap((attempt): Violation[] => {
    const { end, name, web, sentAt } = attempt;
    if (end.kind !== 'answered') return [];
    const isValid = operations.triedBy(attempt)?.parsed() !== undefined;
    if (UNAVAILABLE.has(end.code) || isDue(end, isValid)) return [];
    const due = isValid ? 'one by the state of its matter, or none' : `a rejection, ${INVALID}`;
    const about = `${name} to ${web}, sent at ${shownTime(sentAt)}`;
    const what = `${about}, answered ${end.code} ${end.reason ?? ''}: due is ${due}`;
    return [{ rule: 'wrongly-rejected', requestId: end.requestId, what }];
  });
}

/** @param isValid whether the contract takes the body */
function isDue({ code, reason }: Answered, isValid: boolean): boolean {
  if (!isValid) return code === 400 && reason === INVALID;
  return code === 0 || ((code === 400 || code === 404) && isOfState(reason));
}
