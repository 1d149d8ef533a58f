/** The handler of the four operations: a signed request, its idempotency key, the push. */
import type { Middleware } from 'koa';
import type { OperationName } from '../domain/operation';
import type { AcceptPush } from './accept-push';
import { readIdempotencyKey } from './idempotency-key';
import type { RequestState } from './koa-envelope';
import type { ReadSignedRequest } from './signed-request';

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
    const key = readIdempotencyKey(ctx.req.rawHeaders);
    const admitted = (rate: RequestState['rate']) => {
      ctx.state.rate = rate;
    };
    const push = { ...request, operation, path: ctx.path, ...key, admitted };
    const { data, replayed } = await accept(push);
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    ctx.state.data = data;
    ctx.state.outcome = replayed ? 'REPLAYED' : data.outcome;
  };
}
