/** Every error becomes an envelope with its code, reason and request id. */
import type { Middleware } from 'koa';
import type { Clock } from '../../concurrency/clock';
import { errorEnvelope, withHelpUnder } from '../../protocol/envelope';
import { rateHeaders } from '../rate-headers';
import type { RequestState } from '../request-state';
import { discardRest } from '../streamed-body';
import type { TellRejection } from '../tell-rejection';
import { type Always200, writeEnvelope } from '../write-envelope';

export interface ErrorOptions {
  readonly clock: Clock;
  readonly always200: Always200;
  readonly tellRejection: TellRejection;
  readonly pathPrefix: string;
}

export function koaError(options: ErrorOptions): Middleware<RequestState> {
  const { clock, always200, tellRejection, pathPrefix } = options;
  return async (ctx, next) => {
    try {
      await next();
    } catch (cause) {
      // Rejected before its body was read: it is let in, so that its sender reads the answer and can
      // go on with the connection.
      if (ctx.req.readableFlowing === null) await discardRest(ctx.req);
      const error = tellRejection(ctx, cause ?? new Error('something empty was thrown'));
      const rate = error.rate ?? ctx.state.rate;
      if (rate) ctx.set(rateHeaders(rate));
      if (error.retryAfter !== undefined) ctx.set('Retry-After', String(error.retryAfter));
      const { requestId, language } = ctx.state;
      const envelope = errorEnvelope(error, requestId, clock(), language);
      writeEnvelope(ctx, withHelpUnder(pathPrefix, envelope), always200);
    }
  };
}
