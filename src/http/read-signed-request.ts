/** Reads a request up to the point where it is known who sent it: body, headers, caller. */
import type { IncomingMessage } from 'node:http';
import { readAuthHeaders } from '../auth/auth-headers';
import { authenticate, type Caller } from '../auth/authenticate';
import type { SignedRequest } from '../auth/signed-request';
import type { Clock } from '../concurrency/clock';
import { PushError } from '../protocol/errors';
import { databaseCall } from '../pushes/availability';
import { JUST_NOW, recordRejection } from '../pushes/rejected-caller';
import type { LogRejection } from '../pushes/rejection-log';
import type { ClientDirectory, KnownClient } from '../storage/directory/clients';
import type { SecretUses } from '../storage/directory/secret-uses';
import type { PushCounts } from '../storage/push-log/push-counts';
import type { Metrics } from '../telemetry/metrics';
import type { RequestState } from './middleware/koa-envelope';
import { readRawBody } from './middleware/raw-body';

export interface SignedRequestDependencies {
  readonly findClient: ClientDirectory['find'];
  readonly logRejection: LogRejection;
  readonly counts?: PushCounts;
  /** Told of each request that is its client's own. */
  readonly noteUse: SecretUses['note'];
  /** @throws PushError where the service cannot take a request right now */
  readonly checkReady: () => void;
  readonly newRequestId: (receivedAt: number) => string;
  readonly clock: Clock;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  readonly metrics: Metrics;
}

/** What a route says about itself. */
export interface SignedRoute {
  /** Stands in the push log where the request is rejected. */
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
 *   a rejection of a known client is recorded
 */
export function createReadSignedRequest(deps: SignedRequestDependencies): ReadSignedRequest {
  return async ({ req, state }, { operation, bodyLimit }) => {
    const rawBody = await readRawBody(req, bodyLimit);
    // A slow upload is the caller's own time; the wait for the write begins here.
    const receivedAt = deps.clock();
    const began = performance.now();
    // Request ids are in the order of receipt: it is the order of the push log.
    state.requestId = deps.newRequestId(receivedAt);
    const headers = readAuthHeaders(req.rawHeaders);
    deps.checkReady();
    const identify = async (maxAge?: number): Promise<Identified> => {
      const found = deps.findClient(headers.clientId, maxAge);
      const client = await databaseCall(found, receivedAt + deps.timeout - deps.clock());
      try {
        return { client, caller: authenticate(client, headers, rawBody, deps.clock()) };
      } catch (error) {
        if (!(error instanceof PushError)) throw error;
        return { client, error };
      }
    };
    const first = await identify();
    const { client, caller, error } = first.error ? await identify(JUST_NOW) : first;
    const { requestId, traceId } = state;
    const traced = traceId !== undefined && { traceId };
    const about = { requestId, operation, rawBody, receivedAt, ...traced };
    if (error) {
      recordRejection(deps, client, { ...about, headers }, error);
      throw error;
    }
    state.clientId = caller.clientId;
    deps.metrics.stage('verify', began);
    state.stages?.mark('verify');
    deps.noteUse(caller);
    const signature = headers.signature.toLowerCase();
    return { ...about, caller, signature, timestamp: Number(headers.timestamp) };
  };
}

/** A request's client as the directory has it, and whether the request is its own. */
type Identified =
  | { readonly client: KnownClient | undefined; readonly caller: Caller; readonly error?: never }
  | {
      readonly client: KnownClient | undefined;
      readonly caller?: never;
      readonly error: PushError;
    };
