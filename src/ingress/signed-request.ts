/** Reads a request up to the point where it is known who sent it: body, headers, caller. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../clock';
import type { KnownClient } from '../directory/clients';
import { PushError } from '../errors';
import { readAuthHeaders } from './auth-headers';
import { authenticate, type Caller } from './authenticate';
import { databaseCall } from './availability';
import type { RequestState } from './koa-envelope';
import { newEntry, refusedEntry } from './log-entry';
import { readRawBody } from './raw-body';
import type { LogRefusal } from './refusal-log';

export interface SignedRequest {
  readonly requestId: string;
  readonly caller: Caller;
  readonly rawBody: Uint8Array;
  /** When the whole request was there, epoch milliseconds. */
  readonly receivedAt: number;
  /** Lower-case hex. */
  readonly signature: string;
  /** Epoch seconds. */
  readonly timestamp: number;
}

export interface SignedRequestDependencies {
  readonly findClient: (clientId: string) => Promise<KnownClient | undefined>;
  readonly logRefusal: LogRefusal;
  /** @throws PushError where the service cannot take a request right now */
  readonly checkReady: () => void;
  readonly newRequestId: (receivedAt: number) => string;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
}

/** What a route says about itself. */
export interface SignedRoute {
  /** Stands in the push log where the request is refused. */
  readonly operation: string;
  /** Largest body in bytes. */
  readonly bodyLimit: number;
}

interface SignedContext {
  readonly req: IncomingMessage;
  readonly state: RequestState;
}

export type ReadSignedRequest = (ctx: SignedContext, route: SignedRoute) => Promise<SignedRequest>;

/**
 * @throws (the built function) PushError for what decisions, "Authentication: which code", lists;
 *   a refusal of a known client is recorded
 */
export function createReadSignedRequest(deps: SignedRequestDependencies): ReadSignedRequest {
  return async ({ req, state }, { operation, bodyLimit }) => {
    const rawBody = await readRawBody(req, bodyLimit);
    // A slow upload is the caller's own time; the wait for the write begins here.
    const receivedAt = deps.clock();
    // Request ids are in the order of receipt: it is the order of the push log.
    state.requestId = deps.newRequestId(receivedAt);
    const headers = readAuthHeaders(req.rawHeaders);
    deps.checkReady();
    const client = await databaseCall(deps.findClient(headers.clientId), deps.timeout);
    const about = { requestId: state.requestId, operation, rawBody, receivedAt };
    try {
      const caller = authenticate(client, headers, rawBody, deps.clock());
      state.clientId = caller.clientId;
      const signature = headers.signature.toLowerCase();
      return { ...about, caller, signature, timestamp: Number(headers.timestamp) };
    } catch (error) {
      if (client && error instanceof PushError) {
        const entry = () => newEntry({ ...about, ...client, timeout: 0 });
        const refused = () => refusedEntry(entry(), error, receivedAt);
        deps.logRefusal(client.clientId, refused, rawBody);
      }
      throw error;
    }
  };
}
