/** Who sent a request whose body is there? (decisions, "Authentication: which code") */
import type { Middleware } from 'koa';
import { type AuthHeaders, readAuthHeaders } from '../../auth/auth-headers';
import { authenticate, type Caller } from '../../auth/authenticate';
import type { Clock } from '../../concurrency/clock';
import { PushError } from '../../protocol/errors';
import { databaseCall } from '../../pushes/availability';
import { JUST_NOW, type RejectionRecorder, recordRejection } from '../../pushes/rejected-caller';
import type { ClientDirectory, KnownClient } from '../../storage/directory/clients';
import type { SecretUses } from '../../storage/directory/secret-uses';
import type { Metrics } from '../../telemetry/metrics';
import { type ReceivedRequest, requestFields } from '../request-fields';
import type { RequestState } from '../request-state';
import type { NewRequestId } from './koa-request-id';

export interface HmacAuthDependencies extends RejectionRecorder {
  readonly findClient: ClientDirectory['find'];
  readonly mostSecrets: ClientDirectory['mostSecrets'];
  /** Told of each request that is its client's own. */
  readonly noteUse: SecretUses['note'];
  /** @throws PushError where the service cannot take a request right now */
  readonly checkReady: () => void;
  readonly newRequestId: NewRequestId;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly metrics?: Metrics;
}

/**
 * @param operation stands in the push log where the request is rejected
 * @throws (the middleware) PushError for what decisions, "Authentication: which code", lists; a
 *   rejection of a known client is recorded
 */
export function koaHmacAuth(
  deps: HmacAuthDependencies,
  operation: string,
): Middleware<RequestState> {
  return async (ctx, next) => {
    const { req, state } = ctx;
    // A slow upload is the caller's own time; the wait for the write begins here.
    const receivedAt = deps.clock();
    const began = performance.now();
    // Request ids are in the order of receipt: it is the order of the push log.
    state.requestId = deps.newRequestId(receivedAt);
    const headers = readAuthHeaders(req.rawHeaders);
    deps.checkReady();
    const { requestId, rawBody } = state;
    const { client, caller, error } = await identify(deps, { headers, rawBody, receivedAt });
    if (error) {
      const logged = requestFields(ctx);
      const request = { requestId, operation, receivedAt, headers, rawBody, logged };
      recordRejection(deps, client, request, error);
      throw error;
    }
    noteCaller(deps, ctx, { caller, headers, receivedAt });
    deps.metrics?.stage('verify', began);
    state.stages?.mark('verify');
    await next();
  };
}

interface SentRequest {
  readonly headers: AuthHeaders;
  readonly rawBody: Uint8Array;
  readonly receivedAt: number;
}

/** A request's client as the directory has it, and whether the request is its own. */
type Identified =
  | { readonly client: KnownClient | undefined; readonly caller: Caller; readonly error?: never }
  | {
      readonly client: KnownClient | undefined;
      readonly caller?: never;
      readonly error: PushError;
    };

/** Before it is rejected the client is looked up anew: it, or its secret, may be a moment old. */
async function identify(deps: HmacAuthDependencies, sent: SentRequest): Promise<Identified> {
  const first = check(deps, sent, await lookUp(deps, sent));
  return first.error ? check(deps, sent, await lookUp(deps, sent, JUST_NOW)) : first;
}

function lookUp(
  { findClient, timeout, clock }: HmacAuthDependencies,
  { headers, receivedAt }: SentRequest,
  maxAge?: number,
): Promise<KnownClient | undefined> {
  return databaseCall(findClient(headers.clientId, maxAge), receivedAt + timeout - clock());
}

function check(
  { clock, mostSecrets }: HmacAuthDependencies,
  { headers, rawBody }: SentRequest,
  client: KnownClient | undefined,
): Identified {
  try {
    return { client, caller: authenticate(client, headers, rawBody, clock(), mostSecrets()) };
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    return { client, error };
  }
}

/** From here on it is known who sent the request. */
export function noteCaller(
  { noteUse }: Pick<HmacAuthDependencies, 'noteUse'>,
  ctx: ReceivedRequest,
  signed: { readonly caller: Caller; readonly headers: AuthHeaders; readonly receivedAt: number },
): void {
  const { caller, headers, receivedAt } = signed;
  const { state } = ctx;
  const { requestId } = state;
  const logged = requestFields(ctx);
  const signature = headers.signature.toLowerCase();
  const timestamp = Number(headers.timestamp);
  state.clientId = caller.clientId;
  state.signed = { requestId, caller, receivedAt, signature, timestamp, logged };
  noteUse(caller);
}
