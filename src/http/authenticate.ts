/** Middlewares that authenticate and admit received requests (contract 3.2). */
import type { Middleware } from 'koa';
import { type AuthHeaders, readAuthHeaders } from '../auth/auth-headers';
import {
  authenticate,
  type Caller,
  createSignedBody,
  type Identification,
  type SignedBody,
} from '../auth/authenticate';
import type { Reach } from '../concurrency/reach';
import type { Clock } from '../concurrency/timing';
import type { Metrics } from '../observability/metrics';
import { type Admit, databaseCall, type LogRejection, recordRejection } from '../pushes/pushes';
import type { ClientDirectory, SecretUses } from '../storage/directory';
import {
  type NewRequestId,
  type RequestContext,
  type RequestState,
  requestFields,
} from './request';

export interface HmacAuthDependencies {
  readonly logRejection: LogRejection;
  readonly clients: ClientDirectory;
  readonly database: Pick<Reach, 'guard'>;
  readonly noteUse: SecretUses['note'];
  /** @throws PushError if the service cannot accept a request now */
  readonly checkReady: () => void;
  readonly newRequestId: NewRequestId;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly metrics?: Metrics;
}

/**
 * Records a failed authentication of a known client in the push log (contract 5.3).
 *
 * @returns a middleware that throws the PushErrors of contract 3.2 from HMAC_HEADERS_MISSING on,
 *   DATABASE_UNAVAILABLE, and the errors of `checkReady`
 */
export function koaHmacAuth(
  deps: HmacAuthDependencies,
  operation: string,
): Middleware<RequestState> {
  return async (ctx, next) => {
    const { req, state } = ctx;
    // The timeout of a push starts after the upload.
    const receivedAt = deps.clock();
    const began = performance.now();
    // The request id must contain `receivedAt`, because the push log is ordered by request id.
    state.requestId = deps.newRequestId(receivedAt);
    const headers = readAuthHeaders(req.rawHeaders);
    deps.checkReady();
    const { requestId, rawBody } = state;
    const body = createSignedBody(headers, rawBody);
    const { client, caller, error } = await identify(deps, { headers, body, receivedAt });
    const digest = await body.digest();
    state.digest = digest;
    if (error) {
      const logged = requestFields(ctx);
      const request = { requestId, operation, receivedAt, headers, rawBody, digest, logged };
      const push = recordRejection(deps.logRejection, client, request, error);
      if (push) state.pushes = [push];
      throw error;
    }
    setCaller(deps, ctx, { caller, headers, receivedAt });
    deps.metrics?.stage('verify', began);
    state.stages?.mark('verify');
    await next();
  };
}

interface SentRequest {
  readonly headers: AuthHeaders;
  readonly body: SignedBody;
  readonly receivedAt: number;
}

/** Repeats a failed authentication with a fresh client, because the cached client can be outdated. */
async function identify(
  { clients, database, clock, timeout }: HmacAuthDependencies,
  { headers, body, receivedAt }: SentRequest,
): Promise<Identification> {
  const check = (find: ClientDirectory['find']) => {
    const lookUp = () =>
      databaseCall(database.guard(find(headers.clientId)), receivedAt + timeout - clock());
    return authenticate(lookUp, body, { headers, clock, minSecrets: clients.maxSecretCount() });
  };
  const first = await check(clients.find);
  return first.error ? check(clients.findFresh) : first;
}

export function setCaller(
  { noteUse }: HmacAuthDependencies,
  ctx: RequestContext,
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

/**
 * Rejects a reused signature, and applies the rate limit. Pushes, batches and resends do not use this middleware.
 *
 * @param timeout maximum milliseconds to wait for Redis
 * @param costOf returns the number of pushes that count against the rate limit; 1 by default
 * @returns a middleware that throws PushError SIGNATURE_REUSED, RATE_LIMITED, QUEUE_UNAVAILABLE or QUEUE_MEMORY_FULL
 */
export function koaAdmit(
  admit: Admit,
  timeout: number,
  costOf: (state: RequestState) => number | Promise<number> = () => 1,
): Middleware<RequestState> {
  return async ({ path, state }, next) => {
    state.rate = await admit({ ...state.signed, path }, timeout, await costOf(state));
    await next();
  };
}
