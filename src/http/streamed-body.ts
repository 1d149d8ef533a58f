/** Authenticates streamed requests (`matters/orphans`). */
import { createHash, type Hmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import type { Middleware } from 'koa';
import { type AuthHeaders, readAuthHeaders } from '../auth/auth-headers';
import { callerOf, checkHeaders, type Secret, secretsToTry } from '../auth/authenticate';
import { LONGEST_SLICE, TimeSlice } from '../concurrency/turns';
import { PushError } from '../protocol/errors';
import { matches, startDigest } from '../protocol/signature';
import { databaseCall, recordRejection } from '../pushes/pushes';
import type { KnownClient } from '../storage/directory';
import type { BodyDigest } from '../storage/push-log';
import { type HmacAuthDependencies, setCaller } from './authenticate';
import { checkEncoding, createUploads, discardRest } from './body';
import { type RequestContext, type RequestState, requestFields } from './request';

/** Limits only the number of concurrent uploads, because streamed bodies are not kept in memory. */
export function koaLongUploads(max: number): Middleware {
  const uploads = createUploads({ max, bytes: Number.POSITIVE_INFINITY });
  return async ({ req }, next) => {
    const upload = uploads.begin(req);
    req.once('end', upload.end);
    try {
      await next();
    } finally {
      upload.end();
    }
  };
}

export interface StreamedUpload {
  /** The operation in the push-log entry of a rejected request. */
  readonly operation: string;
  /** Maximum size of the body in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds in which the body must arrive. */
  readonly bodyTimeout: number;
  /**
   * Called before the body is read and before the signature is verified.
   *
   * @throws PushError if the body must not be read
   */
  readonly begin: (ctx: RequestContext, clientId: string, isKnown: boolean) => ChunkListener;
}

export type ChunkListener = (chunk: Uint8Array) => void;

/** Makes the checks of `koaHmacAuth`. Checks the headers before the body is read, and the signature afterwards. */
export function koaStreamedHmacAuth(
  deps: HmacAuthDependencies,
  upload: StreamedUpload,
): Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      await authenticateStream(deps, ctx, upload);
    } catch (error) {
      await discardRest(ctx.req);
      throw error;
    }
    await next();
  };
}

async function authenticateStream(
  deps: HmacAuthDependencies,
  ctx: RequestContext,
  { operation, bodyLimit: limit, bodyTimeout: timeout, begin }: StreamedUpload,
): Promise<void> {
  const { req, state } = ctx;
  const { clients, database, clock } = deps;
  if (Number(req.headers['content-length'] ?? 0) > limit) throw new PushError('BODY_TOO_LARGE');
  checkEncoding(req);
  const headers = readAuthHeaders(req.rawHeaders);
  deps.checkReady();
  // `findFresh` skips the cache, which may contain old secrets. The body arrives only once, so a later check with
  // newer secrets is impossible.
  const lookUp = () =>
    databaseCall(database.guard(clients.findFresh(headers.clientId)), deps.timeout);
  const client = await lookUp();
  const digest = createStreamDigest();
  const sent = { client, headers, operation, digest: digest.read };
  runCheck(deps, ctx, { ...sent, receivedAt: clock() }, () => checkHeaders(headers, clock()));
  const signerSearch = createSignerSearch(
    secretsToTry(client, clock(), clients.maxSecretCount()),
    headers,
  );
  const consume = begin(ctx, headers.clientId, client !== undefined);
  const onChunk = (chunk: Uint8Array) => {
    digest.update(chunk);
    signerSearch.update(chunk);
    if (client) consume(chunk);
  };
  await receiveBody(req, { limit, timeout, onChunk });
  // While the body arrived, the process may have started to drain.
  deps.checkReady();
  const receivedAt = clock();
  // The push log is sorted by request id, so the time in the id must match `receivedAt`.
  state.requestId = deps.newRequestId(receivedAt);
  // While the body arrived, an operator may have disabled the client or revoked the secret.
  const current = await lookUp();
  const caller = runCheck(deps, ctx, { ...sent, client: current, receivedAt }, () =>
    callerOf(current, signerSearch.find(), clock()),
  );
  setCaller(deps, ctx, { caller, headers, receivedAt });
}

/** `read` must be called at most once. */
function createStreamDigest() {
  const hash = createHash('sha256');
  let bodySize = 0;
  return {
    update: (chunk: Uint8Array) => {
      bodySize += chunk.length;
      hash.update(chunk);
    },
    read: (): BodyDigest => ({ bodyHash: hash.digest('hex'), bodySize }),
  };
}

function createSignerSearch(
  secrets: readonly Secret[],
  { clientId, timestamp, signature }: AuthHeaders,
) {
  const candidates = secrets.map((signer): { signer: Secret; hmac: Hmac } => ({
    signer,
    hmac: startDigest(signer.secret, clientId, timestamp),
  }));
  return {
    update: (chunk: Uint8Array) => {
      for (const { hmac } of candidates) hmac.update(chunk);
    },
    find: () => candidates.find(({ hmac }) => matches(hmac.digest(), signature))?.signer,
  };
}

interface SentStream {
  readonly client: KnownClient | undefined;
  readonly headers: AuthHeaders;
  readonly operation: string;
  readonly receivedAt: number;
  readonly digest: () => BodyDigest;
}

function runCheck<T>(
  deps: HmacAuthDependencies,
  ctx: RequestContext,
  { client, digest, ...sent }: SentStream,
  check: () => T,
): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    const { requestId } = ctx.state;
    const request = { ...sent, requestId, digest: digest(), logged: requestFields(ctx) };
    recordRejection(deps.logRejection, client, request, error);
    throw error;
  }
}

export interface BodyReception {
  /** Maximum size in bytes. */
  readonly limit: number;
  /** Milliseconds in which the whole body must arrive. */
  readonly timeout: number;
  readonly onChunk: ChunkListener;
}

/** @throws PushError BODY_TOO_LARGE, REQUEST_TIMEOUT or BODY_INCOMPLETE; the errors of `onChunk` */
export function receiveBody(req: IncomingMessage, reception: BodyReception): Promise<void> {
  const { limit, timeout, onChunk } = reception;
  return new Promise((resolve, reject) => {
    let size = 0;
    const finish = (error?: unknown) => {
      clearTimeout(timer);
      stopListening();
      req.off('data', onData);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return finish(new PushError('BODY_TOO_LARGE'));
      const began = performance.now();
      try {
        onChunk(chunk);
      } catch (error) {
        return finish(error);
      }
      busyMs += performance.now() - began;
      // Pauses, so that a large body does not block other requests.
      if (busyMs < LONGEST_SLICE) return;
      busyMs = 0;
      req.pause();
      void slice.next().then(() => req.resume());
    };
    const slice = new TimeSlice();
    let busyMs = 0;
    const timer = setTimeout(() => finish(new PushError('REQUEST_TIMEOUT')), timeout);
    const stopListening = finished(req, { writable: false }, (cause) =>
      finish(cause ? new PushError('BODY_INCOMPLETE', { cause }) : undefined),
    );
    req.on('data', onData);
  });
}
