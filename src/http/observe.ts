/** The access log and the traces of requests. */
import type { Middleware } from 'koa';
import { headerValues } from '../auth/auth-headers';
import type { Logger } from '../infra/logger';
import { createStageTimes } from '../observability/metrics';
import type { Tracing } from '../observability/tracing';
import { endpointAt } from '../protocol/endpoints';
import { MAX_PATH } from './end-request';
import type { RequestState } from './request';

/** Writes one log line per request (LOG_REQUESTS). */
export function koaAccessLog(logger: Logger): Middleware<RequestState> {
  return async (ctx, next) => {
    const began = performance.now();
    const stages = createStageTimes();
    ctx.state.stages = stages;
    // The answer can end after the handler has returned.
    ctx.res.once('close', () => {
      const { requestId, clientId, ended, lineCounts } = ctx.state;
      const line = {
        requestId,
        method: ctx.method,
        path: ctx.path.slice(0, MAX_PATH),
        clientId,
        status: ctx.res.statusCode,
        /** Whether the whole answer was sent. */
        answered: ctx.res.writableFinished,
        outcome: ended?.outcome,
        lines: lineCounts,
        reason: ended?.rejection?.reason,
        ms: Math.round(performance.now() - began),
        stages: stages.read(),
      };
      logger.info(line, 'request');
    });
    await next();
  };
}

export function koaTrace(tracing: Tracing): Middleware<RequestState> {
  return async (ctx, next) => {
    // Unknown paths are not traced, to limit the number of span names.
    if (!endpointAt(ctx.path)) return next();
    const request = tracing.request(ctx.method, ctx.path, traceHeaders(ctx.req.rawHeaders));
    ctx.state.traceId = request.traceId;
    const end = () => {
      const { requestId, clientId, ended } = ctx.state;
      const { outcome, rejection } = ended ?? {};
      request.end({ requestId, clientId, status: ctx.res.statusCode, outcome, rejection });
    };
    try {
      await request.run(next);
    } finally {
      // The answer can end after the handler has returned.
      if (ctx.res.closed) end();
      else ctx.res.once('close', end);
    }
  };
}

/** Ignores the trace headers if `traceparent` occurs twice. */
function traceHeaders(rawHeaders: readonly string[]) {
  const [traceparent, ...duplicates] = headerValues(rawHeaders, 'traceparent');
  if (traceparent === undefined || duplicates.length > 0) return {};
  const tracestate = headerValues(rawHeaders, 'tracestate').join(',');
  return { traceparent, ...(tracestate && { tracestate }) };
}
