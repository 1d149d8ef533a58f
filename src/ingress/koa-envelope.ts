/** The one place that writes responses: the envelope of every answer, success or failure. */
import type { Context, Middleware, Next } from 'koa';
import type { Clock } from '../clock';
import { type Envelope, errorEnvelope, successEnvelope } from '../contract/envelope';
import { PushError } from '../errors';
import type { Logger } from '../logger';

export interface EnvelopeOptions {
  readonly clock: Clock;
  /** @param receivedAt epoch milliseconds */
  readonly newRequestId: (receivedAt: number) => string;
  /** Whether an answer on this path has status 200 whatever its code is (HTTP_STATUS_MODE). */
  readonly always200: (path: string) => boolean;
  readonly logger: Logger;
}

/** What handlers find in and leave on `ctx.state`. */
export interface RequestState {
  requestId: string;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Known after authentication; for the log line. */
  clientId?: string;
  /** What a handler returns: becomes `data`. */
  data?: unknown;
}

/** Handlers set `ctx.state.data` or throw; this renders either. */
export function koaEnvelope(options: EnvelopeOptions): Middleware<RequestState> {
  return async (ctx, next) => {
    ctx.state.receivedAt = options.clock();
    ctx.state.requestId = options.newRequestId(ctx.state.receivedAt);
    const error = await outcome(ctx, next);
    if (error instanceof PushError) renderError(ctx, error, options);
    else if (error !== undefined) {
      const { requestId } = ctx.state;
      options.logger.error({ requestId, error: stackOf(error) }, 'unexpected error');
      renderError(ctx, new PushError('INTERNAL_ERROR'), options);
    } else {
      const { data, requestId } = ctx.state;
      render(ctx, successEnvelope(data, requestId, options.clock()), options);
    }
  };
}

async function outcome(ctx: Context, next: Next): Promise<unknown> {
  try {
    await next();
  } catch (error) {
    return error ?? new Error('something empty was thrown');
  }
  if (ctx.state.data !== undefined) return undefined;
  // No handler ran. The router leaves the routes of the path, whatever their method, on the context.
  const { matched = [] } = ctx as { matched?: readonly unknown[] };
  const isTrace = ctx.status === 501;
  return new PushError(matched.length > 0 || isTrace ? 'METHOD_NOT_ALLOWED' : 'PATH_NOT_FOUND');
}

function renderError(ctx: Context, error: PushError, options: EnvelopeOptions): void {
  if (error.retryAfter !== undefined) ctx.set('Retry-After', String(error.retryAfter));
  // What is left of a body that was not read must not be taken for the next request.
  if (!ctx.req.complete) ctx.set('Connection', 'close');
  render(ctx, errorEnvelope(error, ctx.state.requestId, options.clock()), options);
  const { requestId, clientId, receivedAt } = ctx.state;
  const ms = options.clock() - receivedAt;
  const line = { requestId, clientId, path: ctx.path, reason: error.reason, code: error.code, ms };
  if (error.code < 500) options.logger.info(line, 'refused');
  else options.logger.warn({ ...line, cause: causeOf(error) }, 'failed');
}

function render(ctx: Context, envelope: Envelope, options: EnvelopeOptions): void {
  ctx.status = envelope.code === 0 || options.always200(ctx.path) ? 200 : envelope.code;
  ctx.type = 'application/json; charset=utf-8';
  ctx.body = JSON.stringify(envelope);
}

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));

function causeOf({ cause }: PushError): string | undefined {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined;
}
