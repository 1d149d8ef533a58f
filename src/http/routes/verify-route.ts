/**
 * The handler of `verify`: one push, looked into as far as its validation and by the same code, and
 * no further. Signed and counted like a query, it leaves no trace.
 */
import type { Middleware } from 'koa';
import { renderWarnings, type Verified } from '../../protocol/envelope';
import { VERIFY } from '../../protocol/paths';
import { readVerifyBody } from '../../protocol/verify-body';
import type { Admit } from '../../pushes/admit';
import { databaseCall } from '../../pushes/availability';
import { readIdempotencyKey } from '../../pushes/idempotency-key';
import { readStrictFields } from '../../pushes/strict-fields';
import type { CheckBody } from '../../pushes/validate-push';
import type { RequestState } from '../middleware/koa-envelope';
import type { ReadSignedRequest } from '../read-signed-request';

export interface VerifyRouteDependencies {
  readonly read: ReadSignedRequest;
  readonly admit: Admit;
  readonly checkBody: CheckBody;
  /** BODY_LIMIT, bytes: of all that is sent, the push and what is around it. */
  readonly bodyLimit: number;
  /** Milliseconds for the answer. */
  readonly timeout: number;
}

export function verifyRoute(deps: VerifyRouteDependencies): Middleware<RequestState> {
  const { read, admit, checkBody, bodyLimit, timeout } = deps;
  return async (ctx) => {
    const request = await read(ctx, { operation: VERIFY, bodyLimit });
    ctx.state.rate = await admit({ ...request, path: ctx.path }, timeout);
    const { operation, push } = readVerifyBody(request.rawBody);
    const key = readIdempotencyKey(ctx.req.rawHeaders);
    const { strictFields, ...strict } = readStrictFields(ctx.req.rawHeaders);
    const headerErrors = [...key.headerErrors, ...strict.headerErrors];
    const requestContext = { operation, strictFields, headerErrors };
    const checked = await databaseCall(checkBody(push, requestContext), timeout);
    const { externalId = null } = checked;
    const warnings = renderWarnings(checked.warnings, ctx.state.language);
    ctx.state.data = { valid: true, externalId, warnings } satisfies Verified;
  };
}
