/** The answers to a client that is over its rate, or paused. */
import { PushError, type RateState } from './errors';

/** The answer to a request over its client's rate. @param retryAfter seconds until the next one may pass */
export function rateLimited(
  limit: Pick<RateState, 'rate' | 'burst'>,
  retryAfter: number,
): PushError {
  return new PushError('RATE_LIMITED', { retryAfter, rate: { ...limit, remaining: 0 } });
}

/** Seconds; nobody knows how long an operator's pause lasts. */
const PAUSED_RETRY_AFTER = 30;

/** The answer to the pushes of a paused client. @param why the operator's words, if there are any */
export function clientPaused(why?: string): PushError {
  const { zh, en } = new PushError('CLIENT_PAUSED').text;
  return new PushError('CLIENT_PAUSED', {
    retryAfter: PAUSED_RETRY_AFTER,
    ...(why && { text: { zh: `${zh}: ${why}`, en: `${en}: ${why}` } }),
  });
}
