/** One call from its first try to its end: answered, rejected for good, or out of retries or time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { MatterPushClientOptions } from './api';
import { backoff } from './backoff';
import type { Call } from './call';
import { MatterPushError, type Rejection } from './error';
import type { Gate } from './gate';
import type { OutgoingRequest, Sender } from './sender';
import { type Answered, isRateLimit, judge, noAnswer, type Rejected } from './verdict';

export interface Ways {
  readonly sender: Sender;
  readonly gate: Gate;
  /** Most tries after the first; being told to slow down is not counted. */
  readonly retries: number;
  readonly onRetry?: MatterPushClientOptions['onRetry'];
}

export interface Settled extends Answered {
  /** How often it was sent. */
  readonly tries: number;
}

/** A call that waited this often for its turn under the rate limit is given up. */
export const MAX_RATE_LIMITED = 100;

/**
 * Every try has the same bytes and idempotency key, and a signature of its own. The key makes it
 * safe to try again after a lost answer: a try that had been applied is answered with its first
 * outcome, it does not undo what came after it.
 *
 * @throws MatterPushError
 */
export async function settle(
  request: OutgoingRequest,
  call: Call,
  { sender, gate, retries, onRetry }: Ways,
): Promise<Settled> {
  const { stopped, cut, deadline } = call;
  const { idempotencyKey } = request;
  let tries = 0;
  let retried = 0;
  let rateLimited = 0;
  let last: MatterPushError | undefined;
  const stop = (why: Rejection) => new MatterPushError(why, { tries, idempotencyKey, cause: last });
  for (;;) {
    if (!stopped.aborted) await gate.pass(stopped).catch(() => undefined);
    if (stopped.aborted) throw stop(stopped.reason);
    tries += 1;
    const verdict = await sender
      .send(request, cut)
      .then((answer) => judge(answer, request.confirms), noAnswer);
    if (verdict.kind === 'answered') return { ...verdict, tries };
    if (cut.aborted) throw stop(stopped.reason);
    last = new MatterPushError(verdict, { tries, idempotencyKey });
    if (!verdict.retryable) throw last;
    if (stopped.aborted) throw stop(stopped.reason);
    const isLimited = isRateLimit(verdict);
    if (isLimited) rateLimited += 1;
    else retried += 1;
    if (retried > retries || rateLimited > MAX_RATE_LIMITED) throw last;
    const wait = waitAfter(verdict, isLimited ? Math.min(rateLimited, 5) : retried);
    if (isLimited) gate.pause(wait);
    // It would not be sent again in time: better told now than then.
    if (performance.now() + wait >= deadline) throw last;
    onRetry?.(last, wait);
    if (!isLimited) await sleep(wait, undefined, { signal: stopped }).catch(() => undefined);
  }
}

/** Milliseconds. The gate spreads those that were told to slow down, so they need no jitter. */
function waitAfter(verdict: Rejected, nth: number): number {
  const { retryAfter } = verdict;
  return isRateLimit(verdict) && retryAfter !== undefined ? retryAfter : backoff(nth, retryAfter);
}
