/** The handler of the four operations: a signed request, its idempotency key, the push. */
import type { Middleware } from 'koa';
import type { OperationName } from '../../domain/operation';
import { renderWarnings } from '../../protocol/envelope';
import type { AcceptPush } from '../../pushes/accept-push';
import { readIdempotencyKey } from '../../pushes/idempotency-key';
import { readStrictFields } from '../../pushes/strict-fields';
import type { RequestState } from '../middleware/koa-envelope';
import type { ReadSignedRequest } from '../read-signed-request';

export interface PushRouteDependencies {
  readonly read: ReadSignedRequest;
  readonly accept: AcceptPush;
  /** BODY_LIMIT, bytes. */
  readonly bodyLimit: number;
}

export function pushRoute(
  operation: OperationName,
  { read, accept, bodyLimit }: PushRouteDependencies,
): Middleware<RequestState> {
  return async (ctx) => {
    const request = await read(ctx, { operation, bodyLimit });
    const { idempotencyKey, ...key } = readIdempotencyKey(ctx.req.rawHeaders);
    const { strictFields, ...strict } = readStrictFields(ctx.req.rawHeaders);
    const headerErrors = [...key.headerErrors, ...strict.headerErrors];
    const admitted = (rate: RequestState['rate']) => {
      ctx.state.rate = rate;
    };
    const headers = { idempotencyKey, strictFields, headerErrors };
    const { stages } = ctx.state;
    const push = { ...request, operation, path: ctx.path, ...headers, admitted, stages };
    const { data, replayed } = await accept(push);
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    const { warnings, ...rest } = data;
    const rendered = warnings && { warnings: renderWarnings(warnings, ctx.state.language) };
    ctx.state.data = { ...rest, ...rendered };
    ctx.state.outcome = replayed ? 'REPLAYED' : data.outcome;
  };
}
