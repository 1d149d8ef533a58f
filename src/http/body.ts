/**
 * Reads request bodies into memory. A request counts as an upload until the whole body has arrived. Then the request
 * occupies one of MAX_IN_FLIGHT slots until the request ends.
 */
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Middleware } from 'koa';
import getRawBody from 'raw-body';
import { headerValues } from '../auth/auth-headers';
import { withTimeout } from '../concurrency/timing';
import { UPLOAD_TIMEOUT } from '../protocol/endpoints';
import { PushError } from '../protocol/errors';
import type { RequestState } from './request';

/** Maximum total bytes of all uploads, and maximum total bytes of all requests in slots. */
export const IN_FLIGHT_BYTES = 256 * 1024 * 1024;
/** Maximum milliseconds to discard the rest of a rejected body. */
const DISCARD_TIMEOUT = 2_000;
/** Bytes of memory that each received chunk needs in addition to its content. */
const CHUNK_OVERHEAD = 256;
const EMPTY = Buffer.alloc(0);

/**
 * @param limit maximum bytes of a body
 * @param timeout milliseconds in which the body must arrive
 * @returns a middleware that throws PushError BODY_TOO_LARGE, UNSUPPORTED_ENCODING, REQUEST_TIMEOUT, BODY_INCOMPLETE,
 *   TOO_MANY_IN_FLIGHT or IN_FLIGHT_BYTES_FULL
 */
export function koaRawBody(
  inFlight: InFlight,
  limit: number,
  timeout = UPLOAD_TIMEOUT,
): Middleware<RequestState> {
  return async ({ req, state }, next) => {
    const counted = inFlight.begin(req);
    try {
      state.rawBody = await readRawBody(req, counted, limit, timeout);
      await next();
    } finally {
      // Frees the body early, because Koa keeps `state` until the client has read the answer.
      state.rawBody = EMPTY;
      counted.end();
    }
  };
}

async function readRawBody(
  req: IncomingMessage,
  counted: CountedRequest,
  limit: number,
  timeout: number,
): Promise<Buffer> {
  const length = req.headers['content-length'] ?? null;
  const count = (chunk: Buffer) => counted.received(chunk.length + CHUNK_OVERHEAD);
  const reading = getRawBody(req, { limit, length });
  req.on('data', count);
  const inTime = withTimeout(reading, timeout, () => new PushError('REQUEST_TIMEOUT'));
  const body = await inTime.catch(async (cause) => {
    if (cause instanceof PushError) throw cause;
    // `discardRest` keeps no bytes in memory, so discarded bytes do not count.
    req.off('data', count);
    await discardRest(req);
    const isTooLarge =
      cause instanceof Error && 'type' in cause && cause.type === 'entity.too.large';
    throw new PushError(isTooLarge ? 'BODY_TOO_LARGE' : 'BODY_INCOMPLETE', { cause });
  });
  counted.complete();
  checkEncoding(req);
  return body;
}

/** @throws PushError UNSUPPORTED_ENCODING */
export function checkEncoding(req: IncomingMessage): void {
  const encodings = headerValues(req.rawHeaders, 'content-encoding');
  const sent = encodings.find((encoding) => encoding.trim().toLowerCase() !== 'identity');
  if (sent !== undefined) throw unsupportedEncoding(sent);
}

const CHARSET = /^\s*(utf-?(8|16|16le|16be)|gb2312|gbk|gb18030|big5|us-ascii|iso-8859-1)\s*$/i;

/** A character set in Content-Encoding is a common mistake, so the error text explains this mistake. */
function unsupportedEncoding(sent: string): PushError {
  if (!CHARSET.test(sent)) return new PushError('UNSUPPORTED_ENCODING');
  const { zh, en } = new PushError('UNSUPPORTED_ENCODING').text;
  const header = 'Content-Type: application/json; charset=utf-8';
  return new PushError('UNSUPPORTED_ENCODING', {
    text: {
      zh: `${zh}：该请求头用于压缩方式，不是字符集；请去掉它，字符集写在 ${header}`,
      en: `${en}: Content-Encoding names a compression, not a character set; remove this header, and send ${header}`,
    },
  });
}

/** Must be called before the answer is sent. Otherwise a client that is still sending can lose the answer. */
export async function discardRest(req: IncomingMessage): Promise<void> {
  if (req.complete) return;
  req.resume();
  const signal = AbortSignal.timeout(DISCARD_TIMEOUT);
  await finished(req, { writable: false, signal }).catch(() => undefined);
}

export interface CountedRequest {
  received(bytes: number): void;
  /** @throws PushError TOO_MANY_IN_FLIGHT or IN_FLIGHT_BYTES_FULL */
  complete(): void;
  /** Must be called exactly once. */
  end(): void;
}

export interface InFlight {
  /** Counts the request as an upload. */
  begin(req: IncomingMessage): CountedRequest;
}

/**
 * @param max MAX_IN_FLIGHT: the number of slots, and the maximum number of uploads
 * @param report called with the number of occupied slots at each change
 */
export function createInFlight(
  max: number,
  report: (inFlight: number) => void = () => undefined,
  maxBytes = IN_FLIGHT_BYTES,
): InFlight {
  const uploads = createUploads({ max, bytes: maxBytes });
  let inFlight = 0;
  let bytes = 0;
  return {
    begin: (req) => {
      const upload = uploads.begin(req);
      let size = 0;
      let hasSlot = false;
      return {
        received: (added) => {
          size += added;
          upload.received(added);
        },
        complete: () => {
          upload.end();
          if (inFlight >= max) throw new PushError('TOO_MANY_IN_FLIGHT');
          if (bytes + size > maxBytes) throw new PushError('IN_FLIGHT_BYTES_FULL');
          hasSlot = true;
          bytes += size;
          inFlight += 1;
          report(inFlight);
        },
        end: () => {
          upload.end();
          if (!hasSlot) return;
          bytes -= size;
          inFlight -= 1;
          report(inFlight);
        },
      };
    },
  };
}

/**
 * Disconnects the oldest upload if the uploads exceed a limit.
 *
 * @param bytes maximum bytes of all uploads together
 */
export function createUploads({ max, bytes }: { max: number; bytes: number }) {
  /** The oldest upload is first. */
  const receivedBytes = new Map<IncomingMessage, number>();
  let totalBytes = 0;
  const remove = (req: IncomingMessage) => {
    totalBytes -= receivedBytes.get(req) ?? 0;
    receivedBytes.delete(req);
  };
  const cutOldest = (): boolean => {
    for (const req of receivedBytes.keys()) {
      // An upload with a complete body will end soon.
      if (req.complete) continue;
      remove(req);
      req.socket.destroy();
      return true;
    }
    return false;
  };
  return {
    begin: (req: IncomingMessage) => {
      while (receivedBytes.size >= max && cutOldest());
      receivedBytes.set(req, 0);
      return {
        received: (added: number) => {
          const before = receivedBytes.get(req);
          if (before === undefined) return;
          receivedBytes.set(req, before + added);
          totalBytes += added;
          while (totalBytes > bytes && cutOldest());
        },
        /** Further calls have no effect. */
        end: () => remove(req),
      };
    },
  };
}
