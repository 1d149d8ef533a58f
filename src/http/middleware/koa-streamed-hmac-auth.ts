/**
 * Who sent a request whose body is taken while it arrives, and is not kept? Answers are those of every
 * other signed request; only what needs no body is checked before it.
 */
import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { type AuthHeaders, readAuthHeaders } from '../../auth/auth-headers';
import { type Authentication, startAuthentication } from '../../auth/authenticate';
import { PushError } from '../../protocol/errors';
import { databaseCall } from '../../pushes/availability';
import { recordRejection } from '../../pushes/rejected-caller';
import type { KnownClient } from '../../storage/directory/clients';
import type { BodyDigest } from '../../storage/push-log/entry-model';
import { type ReceivedRequest, requestFields } from '../request-fields';
import type { RequestState } from '../request-state';
import { checkBodyHeaders, discardRest, receiveBody } from '../streamed-body';
import { type HmacAuthDependencies, noteCaller } from './koa-hmac-auth';

export interface StreamedRoute {
  /** Stands in the push log where the request is rejected. */
  readonly operation: string;
  /** Largest body in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds in which the body must arrive. */
  readonly bodyTimeout: number;
  /**
   * Called before the body is read. @returns what takes the body, of a known client only: whether it is
   * signed is known only when the handler runs. @throws PushError where the body shall not be read
   */
  readonly begin: (ctx: Context, clientId: string, isKnown: boolean) => TakeChunk;
}

export type TakeChunk = (chunk: Uint8Array) => void;

/** @throws (the middleware) PushError as `koaHmacAuth`, or REQUEST_TIMEOUT */
export function koaStreamedHmacAuth(
  deps: HmacAuthDependencies,
  route: StreamedRoute,
): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await authenticateStream(deps, ctx, route);
    } catch (error) {
      await discardRest(ctx.req);
      throw error;
    }
    await next();
  };
}

async function authenticateStream(
  deps: HmacAuthDependencies,
  ctx: Context,
  route: StreamedRoute,
): Promise<void> {
  const { req }: Context = ctx;
  const state: RequestState = ctx.state;
  checkBodyHeaders(req, route.bodyLimit);
  const headers = readAuthHeaders(req.rawHeaders);
  deps.checkReady();
  const { clock } = deps;
  const lookUp = () => databaseCall(deps.clients.findAnew(headers.clientId), deps.timeout);
  // Its body cannot be read a second time: the look before a rejection comes before all.
  const client = await lookUp();
  const body = startDigest();
  const sent = { client, headers, operation: route.operation, digest: body.digest };

  const terms = { headers, clock, trials: deps.clients.mostSecrets() };
  const authentication = recorded(deps, ctx, { ...sent, receivedAt: clock() }, () =>
    startAuthentication(client, terms),
  );
  const take = route.begin(ctx, headers.clientId, client !== undefined);
  await receiveBody(req, {
    limit: route.bodyLimit,
    timeout: route.bodyTimeout,
    take: intoEach(body, authentication, client ? take : undefined),
  });
  // It may have begun to drain while the body came.
  deps.checkReady();
  const receivedAt = clock();
  // Request ids are in the order of receipt: it is the order of the push log.
  state.requestId = deps.newRequestId(receivedAt);
  // The body may have taken minutes, in which the client was disabled or its key revoked.
  const current = await lookUp();
  const caller = recorded(deps, ctx, { ...sent, client: current, receivedAt }, () =>
    authentication.finish(current),
  );
  noteCaller(deps, ctx, { caller, headers, receivedAt });
}

interface SentStream {
  readonly client: KnownClient | undefined;
  readonly headers: AuthHeaders;
  readonly operation: string;
  readonly receivedAt: number;
  /** To be called once. */
  readonly digest: () => BodyDigest;
}

/** Runs one check; where it rejects a known client, that is recorded. */
function recorded<T>(
  deps: HmacAuthDependencies,
  ctx: ReceivedRequest,
  { client, digest, ...sent }: SentStream,
  check: () => T,
): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    const { requestId } = ctx.state;
    const request = { ...sent, requestId, digest: digest(), logged: requestFields(ctx) };
    recordRejection(deps, client, request, error);
    throw error;
  }
}

interface RunningDigest {
  readonly update: TakeChunk;
  /** To be called once. */
  readonly digest: () => BodyDigest;
}

function startDigest(): RunningDigest {
  const hash = createHash('sha256');
  let bodySize = 0;
  return {
    update: (chunk) => {
      bodySize += chunk.length;
      hash.update(chunk);
    },
    digest: () => ({ bodyHash: hash.digest('hex'), bodySize }),
  };
}

const intoEach =
  (body: RunningDigest, authentication: Authentication, take: TakeChunk | undefined): TakeChunk =>
  (chunk) => {
    body.update(chunk);
    authentication.update(chunk);
    take?.(chunk);
  };
