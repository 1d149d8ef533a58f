/**
 * Admission of what is no push: its signature is for this use, its client within its rate. A push is admitted
 * in submitPush, since what is rejected there is recorded and counted as a push.
 */
import type { Middleware } from 'koa';
import type { Admit } from '../../pushes/admit';
import type { RequestState } from '../request-state';

/**
 * @param timeout milliseconds for the answer
 * @param pushesOf how many pushes the request counts for
 * @throws (the middleware) PushError SIGNATURE_REUSED, RATE_LIMITED or QUEUE_UNAVAILABLE
 */
export function koaRateLimit(
  admit: Admit,
  timeout: number,
  pushesOf: (state: RequestState) => number = () => 1,
): Middleware<RequestState> {
  return async ({ path, state }, next) => {
    state.rate = await admit({ ...state.signed, path, pushes: pushesOf(state) }, timeout);
    await next();
  };
}
