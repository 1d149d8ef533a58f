/** The span of a signed request, around all that answers it. In its way only where TRACING is on. */
import type { Middleware } from 'koa';
import { headerValues } from '../../auth/auth-headers';
import { OPERATIONS } from '../../domain/operation';
import { ORPHANS, pushPath, QUERIES, queryPath, VERIFY } from '../../protocol/paths';
import type { Tracing } from '../../telemetry/tracing';
import type { RequestState } from '../request-state';

/** Paths of others are of their own choosing. */
const TRACED = new Set<string>([
  ...OPERATIONS.map(pushPath),
  ...([...QUERIES, ORPHANS, VERIFY] as const).map(queryPath),
]);

export function koaTrace(tracing: Tracing): Middleware<RequestState> {
  return async (ctx, next) => {
    if (!TRACED.has(ctx.path)) return next();
    const request = tracing.request(ctx.method, ctx.path, traceHeaders(ctx.req.rawHeaders));
    ctx.state.traceId = request.traceId;
    const end = () => {
      const { requestId, clientId, outcome, rejection } = ctx.state;
      request.end({ requestId, clientId, status: ctx.res.statusCode, outcome, rejection });
    };
    try {
      await request.run(next);
    } finally {
      // An answer of many lines is sent for long after.
      if (ctx.res.closed) end();
      else ctx.res.once('close', end);
    }
  };
}

/** One that was sent twice says two things, and so nothing. */
function traceHeaders(rawHeaders: readonly string[]) {
  const [traceparent, ...more] = headerValues(rawHeaders, 'traceparent');
  if (traceparent === undefined || more.length > 0) return {};
  const tracestate = headerValues(rawHeaders, 'tracestate').join(',');
  return { traceparent, ...(tracestate && { tracestate }) };
}
