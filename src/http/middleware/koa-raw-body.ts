/** The body as the bytes that were sent: bounded, undecoded, within a deadline. */
import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import getRawBody from 'raw-body';
import { withTimeout } from '../../concurrency/timeout';
import { PushError } from '../../protocol/errors';
import type { RequestState } from '../request-state';
import { checkEncoding, discardRest } from '../streamed-body';
import { arrivalOf } from './koa-in-flight';

/** Milliseconds in which the body of a push or a query must arrive. */
const TIMEOUT = 12_000;
/** Bytes that a piece takes beside its content: for a body sent byte by byte that is most of its memory. */
const PER_PIECE = 256;
const NOTHING = Buffer.alloc(0);

/**
 * @param limit bytes
 * @param timeout milliseconds in which the body must arrive
 * @throws (the middleware) PushError BODY_TOO_LARGE, UNSUPPORTED_ENCODING, REQUEST_TIMEOUT,
 *   BODY_INCOMPLETE where the caller broke off, TOO_MANY_IN_FLIGHT or IN_FLIGHT_BYTES_FULL
 */
export function koaRawBody(limit: number, timeout = TIMEOUT): Middleware<RequestState> {
  return async ({ req, state }, next) => {
    state.rawBody = await readRawBody(req, limit, timeout);
    try {
      await next();
    } finally {
      // It takes no place in flight any more; its answer may be read for long after.
      state.rawBody = NOTHING;
    }
  };
}

async function readRawBody(req: IncomingMessage, limit: number, timeout: number): Promise<Buffer> {
  const length = req.headers['content-length'];
  const arrival = arrivalOf(req);
  const count = (piece: Buffer) => arrival?.received(piece.length + PER_PIECE);
  const reading = getRawBody(req, { limit, length: length ?? null });
  req.on('data', count);
  // What still arrives after the deadline ends with the connection.
  const inTime = withTimeout(reading, timeout, () => new PushError('REQUEST_TIMEOUT'));
  const body = await inTime.catch(async (cause) => {
    if (cause instanceof PushError) throw cause;
    // The rest is not kept.
    req.off('data', count);
    await discardRest(req);
    throw new PushError(isTooLarge(cause) ? 'BODY_TOO_LARGE' : 'BODY_INCOMPLETE', { cause });
  });
  arrival?.complete();
  checkEncoding(req);
  return body;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'entity.too.large';
}
