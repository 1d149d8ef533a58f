/** Sends a request until it has an answer, a final rejection, no retries left or no time left. */
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
  /** Maximum retries. Retries after 429 are not counted. */
  readonly retries: number;
  readonly onRetry?: MatterPushClientOptions['onRetry'];
}

export interface Settled extends Answered {
  /** Number of times that the request was sent. */
  readonly tries: number;
}

/** Maximum number of 429 answers to a call. After one more, the call fails. */
export const MAX_RATE_LIMITED = 100;

/**
 * Every try has the same bytes and idempotency key, and a new signature. With the key, a retry after a lost answer is
 * safe: if the service has applied an earlier try, it repeats the outcome and applies nothing.
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
    // The retry would begin after the deadline, so the call fails now.
    if (performance.now() + wait >= deadline) throw last;
    onRetry?.(last, wait);
    if (!isLimited) await sleep(wait, undefined, { signal: stopped }).catch(() => undefined);
  }
}

/** Milliseconds before a retry. After 429 it has no jitter, because the gate spreads these retries. */
function waitAfter(verdict: Rejected, nth: number): number {
  const { retryAfter } = verdict;
  return isRateLimit(verdict) && retryAfter !== undefined ? retryAfter : backoff(nth, retryAfter);
}
