/**
 * Reads a signed request whose body is not kept. Answers are those of every other signed request;
 * only what needs no body is checked before it.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readAuthHeaders } from '../auth/auth-headers';
import { startAuthentication } from '../auth/authenticate';
import type { SignedRequest } from '../auth/signed-request';
import { PushError } from '../protocol/errors';
import { databaseCall } from '../pushes/availability';
import { JUST_NOW, recordRejection } from '../pushes/rejected-caller';
import type { RequestState } from './middleware/koa-envelope';
import type { SignedRequestDependencies } from './read-signed-request';
import { checkBodyHeaders, discardRest, receiveBody } from './streamed-body';

export interface StreamedRoute {
  /** Stands in the push log where the request is rejected. */
  readonly operation: string;
  /** Largest body in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds in which the body must arrive. */
  readonly bodyTimeout: number;
  /** Called before the body is read. @throws PushError where it shall not be */
  readonly begin: (clientId: string, isKnown: boolean) => void;
  /** Gets the body. Whether it is signed is known only when `read` has returned. */
  readonly take: (chunk: Uint8Array) => void;
}

export type StreamedRequest = Omit<SignedRequest, 'rawBody'>;

interface StreamedContext {
  readonly req: IncomingMessage;
  readonly state: RequestState;
}

export type ReadStreamedRequest = (
  ctx: StreamedContext,
  route: StreamedRoute,
) => Promise<StreamedRequest>;

type Dependencies = Omit<SignedRequestDependencies, 'metrics'>;

/** @throws (the built function) PushError as `createReadSignedRequest`, or REQUEST_TIMEOUT */
export function createReadStreamedRequest(deps: Dependencies): ReadStreamedRequest {
  return async (ctx, route) => {
    try {
      return await read(deps, ctx, route);
    } catch (error) {
      await discardRest(ctx.req);
      throw error;
    }
  };
}

async function read(
  deps: Dependencies,
  { req, state }: StreamedContext,
  { operation, bodyLimit, bodyTimeout, begin, take }: StreamedRoute,
): Promise<StreamedRequest> {
  checkBodyHeaders(req, bodyLimit);
  const headers = readAuthHeaders(req.rawHeaders);
  deps.checkReady();
  // Its body cannot be read a second time: the look before a rejection comes before all.
  const found = deps.findClient(headers.clientId, JUST_NOW);
  const client = await databaseCall(found, deps.timeout);
  const body = { hash: createHash('sha256'), size: 0 };
  let receivedAt = deps.clock();
  const digest = () => ({ bodyHash: body.hash.digest('hex'), bodySize: body.size });
  const recorded = <T>(check: () => T): T => {
    try {
      return check();
    } catch (error) {
      const { requestId, traceId } = state;
      const request = { requestId, traceId, operation, receivedAt, headers, digest };
      if (error instanceof PushError) recordRejection(deps, client, request, error);
      throw error;
    }
  };

  const authentication = recorded(() => startAuthentication(client, headers, receivedAt));
  begin(headers.clientId, client !== undefined);
  const takeSigned = (chunk: Uint8Array) => {
    body.size += chunk.length;
    body.hash.update(chunk);
    authentication.update(chunk);
    if (client) take(chunk);
  };
  await receiveBody(req, { limit: bodyLimit, timeout: bodyTimeout, take: takeSigned });
  receivedAt = deps.clock();
  // Request ids are in the order of receipt: it is the order of the push log.
  state.requestId = deps.newRequestId(receivedAt);
  const caller = recorded(() => authentication.finish());
  state.clientId = caller.clientId;
  deps.noteUse(caller);
  const signature = headers.signature.toLowerCase();
  const { requestId } = state;
  return { requestId, caller, receivedAt, signature, timestamp: Number(headers.timestamp) };
}
