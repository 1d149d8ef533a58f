/**
 * The handler of `verify`: one push, looked into as far as its validation and by the same code, and
 * no further. Signed and counted like a query, it leaves no trace.
 */
import type { Middleware } from 'koa';
import { renderWarnings, type Verified } from '../../protocol/envelope';
import { readVerifyBody } from '../../protocol/verify-body';
import { databaseCall } from '../../pushes/availability';
import { readPushHeaders } from '../../pushes/push-request';
import type { CheckBody } from '../../pushes/validate-push';
import type { RequestState } from '../request-state';

/** @param timeout milliseconds for the answer */
export function verifyRoute(checkBody: CheckBody, timeout: number): Middleware<RequestState> {
  return async (ctx) => {
    const { operation, push } = readVerifyBody(ctx.state.rawBody);
    const { strictFields, headerErrors } = readPushHeaders(ctx.req.rawHeaders);
    const requestContext = { operation, strictFields, headerErrors };
    const checked = await databaseCall(checkBody(push, requestContext), timeout);
    const { externalId = null } = checked;
    const warnings = renderWarnings(checked.warnings, ctx.state.language);
    ctx.state.data = { valid: true, externalId, warnings } satisfies Verified;
  };
}
