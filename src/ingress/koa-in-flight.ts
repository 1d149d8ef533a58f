/** Bounds the requests that one ingress holds at the same time: beyond it, 503 before any work. */
import type { Middleware } from 'koa';
import { PushError } from '../errors';

/** @param max MAX_IN_FLIGHT */
export function koaInFlight(max: number): Middleware {
  let inFlight = 0;
  return async (_ctx, next) => {
    if (inFlight >= max) throw new PushError('BACKLOG_FULL');
    inFlight += 1;
    try {
      await next();
    } finally {
      inFlight -= 1;
    }
  };
}
