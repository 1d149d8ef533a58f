/** Rejecting a good request is no service: what callers may be told other than code 0. */
import type { Answered, History } from '../history';
import type { Violation } from './evidence';
import { isOfState } from './matter-cases';
import type { SentOperations } from './sent-operations';
import { shownTime } from './shown-time';

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
