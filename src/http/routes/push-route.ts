/** The handler of the four operations: a signed request, its headers, the push. */
import type { Middleware } from 'koa';
import type { OperationName } from '../../domain/operation';
import { renderWarnings } from '../../protocol/envelope';
import { readPushHeaders } from '../../pushes/push-request';
import type { SubmitPush } from '../../pushes/submit-push';
import type { RequestState } from '../request-state';

export function pushRoute(operation: OperationName, submit: SubmitPush): Middleware<RequestState> {
  return async (ctx) => {
    const { signed, rawBody, stages, language } = ctx.state;
    const headers = readPushHeaders(ctx.req.rawHeaders);
    const admitted = (rate: RequestState['rate']) => {
      ctx.state.rate = rate;
    };
    const about = { operation, path: ctx.path, rawBody, admitted, stages };
    const { data, replayed } = await submit({ ...signed, ...headers, ...about });
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    const { warnings, ...rest } = data;
    const rendered = warnings && { warnings: renderWarnings(warnings, language) };
    ctx.state.data = { ...rest, ...rendered };
    ctx.state.outcome = replayed ? 'REPLAYED' : data.outcome;
  };
}
