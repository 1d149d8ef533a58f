/** The handler of the four operations: a signed request, its idempotency key, the push. */
import type { Middleware } from 'koa';
import { IDEMPOTENCY_KEY } from '../contract/headers';
import type { OperationName } from '../domain/operation';
import type { FieldError } from '../errors';
import type { AcceptPush } from './accept-push';
import { headerValues } from './auth-headers';
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

function readIdempotencyKey(rawHeaders: readonly string[]): {
  idempotencyKey: string | undefined;
  headerErrors: FieldError[];
} {
  const values = headerValues(rawHeaders, 'x-idempotency-key');
  const [idempotencyKey] = values;
  if (idempotencyKey === undefined) return { idempotencyKey: undefined, headerErrors: [] };
  if (values.length === 1 && IDEMPOTENCY_KEY.test(idempotencyKey)) {
    return { idempotencyKey, headerErrors: [] };
  }
  const message = values.length > 1 ? '只能出现一次' : '必须是 1 到 255 个可打印的 ASCII 字符';
  return {
    idempotencyKey: undefined,
    headerErrors: [{ field: 'X-Idempotency-Key', message }],
  };
}
