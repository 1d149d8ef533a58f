/** The handler of the four operations: a signed request, its headers, the push. */
import type { Middleware } from 'koa';
import type { OperationName } from '../../domain/operation';
import { renderWarnings } from '../../protocol/envelope';
import { type PushRequest, readPushHeaders } from '../../pushes/push-request';
import type { SubmitPush } from '../../pushes/submit-push';
import type { RequestState } from '../request-state';

type PushContext = Parameters<Middleware<RequestState>>[0];

export function pushRoute(operation: OperationName, submit: SubmitPush): Middleware<RequestState> {
  return async (ctx) => {
    const { data, replayed } = await submit(pushOf(ctx, operation));
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    const { warnings } = data;
    const { language } = ctx.state;
    ctx.state.data = warnings ? { ...data, warnings: renderWarnings(warnings, language) } : data;
    ctx.state.outcome = replayed ? 'REPLAYED' : data.outcome;
  };
}

/** Field by field: one made of several objects by spreading costs every push many times as much. */
function pushOf({ req, path, state }: PushContext, operation: OperationName): PushRequest {
  const { signed, rawBody, digest, stages } = state;
  const { idempotencyKey, strictFields, headerErrors } = readPushHeaders(req.rawHeaders);
  return {
    requestId: signed.requestId,
    caller: signed.caller,
    receivedAt: signed.receivedAt,
    signature: signed.signature,
    timestamp: signed.timestamp,
    logged: signed.logged,
    idempotencyKey,
    strictFields,
    headerErrors,
    operation,
    path,
    rawBody,
    digest,
    stages,
    admitted: (rate) => {
      state.rate = rate;
    },
  };
}
