/** The handler of the four operations: a signed request, its headers, the push. */
import type { Middleware } from 'koa';
import type { OperationName } from '../../domain/operation';
import { renderWarnings } from '../../protocol/envelope';
import type { AcceptPush } from '../../pushes/accept-push';
import { readPushHeaders } from '../../pushes/push-headers';
import type { RequestState } from '../request-state';

export function pushRoute(operation: OperationName, accept: AcceptPush): Middleware<RequestState> {
  return async (ctx) => {
    const { signed, rawBody, stages, language } = ctx.state;
    const headers = readPushHeaders(ctx.req.rawHeaders);
    const admitted = (rate: RequestState['rate']) => {
      ctx.state.rate = rate;
    };
    const about = { operation, path: ctx.path, rawBody, admitted, stages };
    const { data, replayed } = await accept({ ...signed, ...headers, ...about });
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    const { warnings, ...rest } = data;
    const rendered = warnings && { warnings: renderWarnings(warnings, language) };
    ctx.state.data = { ...rest, ...rendered };
    ctx.state.outcome = replayed ? 'REPLAYED' : data.outcome;
  };
}
