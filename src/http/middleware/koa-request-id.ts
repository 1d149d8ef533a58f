/** What every request has before all else: a time of receipt, an id, and the language of its answer. */
import type { Middleware } from 'koa';
import type { Clock } from '../../concurrency/clock';
import { languageOf } from '../accept-language';
import type { RequestState } from '../request-state';

/** @param receivedAt epoch milliseconds */
export type NewRequestId = (receivedAt: number) => string;

export function koaRequestId(clock: Clock, newRequestId: NewRequestId): Middleware<RequestState> {
  return ({ req, state }, next) => {
    state.receivedAt = clock();
    state.language = languageOf(req.headers['accept-language']);
    state.requestId = newRequestId(state.receivedAt);
    return next();
  };
}
