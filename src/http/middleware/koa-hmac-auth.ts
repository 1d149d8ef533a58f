/** Who sent a request whose body is there? (decisions, "Authentication: which code") */
import type { Middleware } from 'koa';
import { type AuthHeaders, readAuthHeaders } from '../../auth/auth-headers';
import { authenticate, type Caller, type Identified } from '../../auth/authenticate';
import { createSignedBody, type HashedBody } from '../../auth/signed-body';
import type { Clock } from '../../concurrency/clock';
import { databaseCall } from '../../pushes/availability';
import { type RejectionRecorder, recordRejection } from '../../pushes/rejected-caller';
import type { ClientDirectory } from '../../storage/directory/clients';
import type { SecretUses } from '../../storage/directory/secret-uses';
import type { Metrics } from '../../telemetry/metrics';
import { type ReceivedRequest, requestFields } from '../request-fields';
import type { RequestState } from '../request-state';
import type { NewRequestId } from './koa-request-id';

export interface HmacAuthDependencies extends RejectionRecorder {
  readonly clients: ClientDirectory;
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
    const body = createSignedBody(headers, rawBody);
    const { client, caller, error } = await identify(deps, { headers, body, receivedAt });
    state.digest = body.digest();
    if (error) {
      const logged = requestFields(ctx);
      const { digest } = state;
      const request = { requestId, operation, receivedAt, headers, rawBody, digest, logged };
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
  readonly body: HashedBody;
  readonly receivedAt: number;
}

/** Before it is rejected the client is looked up anew: it, or its secret, may be a moment old. */
async function identify(deps: HmacAuthDependencies, sent: SentRequest): Promise<Identified> {
  const { find, findAnew } = deps.clients;
  const first = await check(deps, sent, find);
  return first.error ? check(deps, sent, findAnew) : first;
}

function check(
  { clients, clock, timeout }: HmacAuthDependencies,
  { headers, body, receivedAt }: SentRequest,
  find: ClientDirectory['find'],
): Promise<Identified> {
  const lookUp = () => databaseCall(find(headers.clientId), receivedAt + timeout - clock());
  return authenticate(lookUp, body, { headers, clock, trials: clients.mostSecrets() });
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
