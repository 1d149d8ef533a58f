/** The handler of the four operations: raw body, headers, caller, push. */
import type { Middleware } from 'koa';
import type { Clock } from '../clock';
import type { KnownClient } from '../directory/clients';
import type { OperationName } from '../domain/operation';
import { type FieldError, PushError } from '../errors';
import type { AcceptPush } from './accept-push';
import { headerValues, readAuthHeaders } from './auth-headers';
import { authenticate } from './authenticate';
import { databaseCall } from './availability';
import type { RequestState } from './koa-envelope';
import { newEntry, refusedEntry } from './log-entry';
import { readRawBody } from './raw-body';
import type { LogRefusal } from './refusal-log';

/** 1 to 255 printable characters (decisions, "Idempotency key"). */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

export interface PushRouteDependencies {
  readonly accept: AcceptPush;
  readonly findClient: (clientId: string) => Promise<KnownClient | undefined>;
  readonly logRefusal: LogRefusal;
  /** @throws PushError where the service cannot take a push right now */
  readonly checkReady: () => void;
  readonly clock: Clock;
  /** BODY_LIMIT, bytes. */
  readonly bodyLimit: number;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
}

export function pushRoute(
  operation: OperationName,
  deps: PushRouteDependencies,
): Middleware<RequestState> {
  return async (ctx) => {
    const { requestId } = ctx.state;
    const rawBody = await readRawBody(ctx.req, deps.bodyLimit);
    // A slow upload is the caller's own time; the wait for the write begins here.
    const receivedAt = deps.clock();
    const headers = readAuthHeaders(ctx.req.rawHeaders);
    deps.checkReady();
    const client = await databaseCall(deps.findClient(headers.clientId), deps.timeout);
    const about = { requestId, operation, rawBody, receivedAt };

    const identify = () => {
      try {
        return authenticate(client, headers, rawBody, deps.clock());
      } catch (error) {
        if (client && error instanceof PushError) {
          deps.logRefusal(client.clientId, () => {
            const entry = newEntry({ ...about, ...client, timeout: 0 });
            return refusedEntry(entry, error, receivedAt);
          });
        }
        throw error;
      }
    };

    const caller = identify();
    ctx.state.clientId = caller.clientId;
    const { data, replayed } = await deps.accept({
      ...about,
      caller,
      path: ctx.path,
      signature: headers.signature.toLowerCase(),
      timestamp: Number(headers.timestamp),
      ...readIdempotencyKey(ctx.req.rawHeaders),
    });
    if (replayed) ctx.set('Idempotency-Replayed', 'true');
    ctx.state.data = data;
  };
}

function readIdempotencyKey(rawHeaders: readonly string[]): {
  idempotencyKey: string | undefined;
  headerErrors: FieldError[];
} {
  const values = headerValues(rawHeaders, 'x-idempotency-key');
  const [idempotencyKey] = values;
  if (idempotencyKey === undefined) return { idempotencyKey: undefined, headerErrors: [] };
  if (values.length === 1 && IDEMPOTENCY_KEY.test(idempotencyKey)) {
    return { idempotencyKey, headerErrors: [] };
  }
  const message = values.length > 1 ? '只能出现一次' : '必须是 1 到 255 个可打印的 ASCII 字符';
  return {
    idempotencyKey: undefined,
    headerErrors: [{ field: 'X-Idempotency-Key', message }],
  };
}
