/** The handlers of a single push and of its dry run `verify`. */
import type { Middleware } from 'koa';
import { readPushHeaders } from '../../auth/auth-headers';
import type { OperationName } from '../../domain/operation';
import { renderWarnings } from '../../protocol/envelope';
import { PushError } from '../../protocol/errors';
import type { Verified } from '../../protocol/push-data';
import { readVerifyBody } from '../../protocol/verify-body';
import {
  type AcceptedPush,
  type CheckBody,
  databaseCall,
  type PushRequest,
  type PushResult,
  type Submit,
} from '../../pushes/pushes';
import type { RequestContext, RequestState } from '../request';

export function pushRoute(operation: OperationName, submit: Submit): Middleware<RequestState> {
  return async (ctx) => {
    const { data, replayed } = acceptedOrThrow(await submitRequest(ctx, submit, operation));
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    const { warnings } = data;
    const { language } = ctx.state;
    ctx.state.data = warnings ? { ...data, warnings: renderWarnings(warnings, language) } : data;
  };
}

function acceptedOrThrow([result]: readonly PushResult[]): AcceptedPush {
  const answer = result?.answer ?? new PushError('INTERNAL_ERROR');
  if (answer instanceof PushError) throw answer;
  return answer;
}

/** @param readLines reads the lines of a batch; absent for a single push */
export async function submitRequest(
  ctx: RequestContext,
  submit: Submit,
  operation: PushRequest['operation'],
  readLines?: PushRequest['readLines'],
): Promise<readonly PushResult[]> {
  const results = await submit(requestOf(ctx, operation, readLines));
  storeEnded(ctx.state, operation, results);
  return results;
}

/** Sets `state.pushes`, which `createEndRequest` reports at the end of the request. */
export function storeEnded(
  state: RequestState,
  operation: PushRequest['operation'],
  results: readonly PushResult[],
): void {
  const { caller, receivedAt } = state.signed;
  const { clientId, systemCode } = caller;
  state.pushes = results.map((result) => ({
    clientId,
    systemCode,
    operation: (result.line !== undefined && result.operation) || operation,
    receivedAt,
    answer: result.answer,
    lines: result.line === undefined ? state.lineCounts?.total : 1,
    isRecorded: result.isRecorded,
  }));
}

/** Copies each field, because an object spread is much slower. */
export function requestOf(
  { req, path, state }: RequestContext,
  operation: PushRequest['operation'],
  readLines?: PushRequest['readLines'],
): PushRequest {
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
    readLines,
    onAdmitted: (rate) => {
      state.rate = rate;
    },
  };
}

/** @param timeout in milliseconds */
export function verifyRoute(checkBody: CheckBody, timeout: number): Middleware<RequestState> {
  return async ({ req, state }) => {
    const { operation, push } = readVerifyBody(state.rawBody);
    const { strictFields, headerErrors } = readPushHeaders(req.rawHeaders);
    const requestContext = { operation, strictFields, headerErrors };
    const checked = await databaseCall(checkBody(push, requestContext), timeout);
    const { externalId = null } = checked;
    const warnings = renderWarnings(checked.warnings, state.language);
    state.data = { valid: true, externalId, warnings } satisfies Verified;
  };
}
