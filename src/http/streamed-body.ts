/** A body that is taken in pieces while it arrives, because it is too large to be kept. */
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream';
import { finished as untilFinished } from 'node:stream/promises';
import { headerValues } from '../auth/auth-headers';
import { LONGEST_SLICE, TimeSlice } from '../concurrency/time-slice';
import { PushError } from '../protocol/errors';

/** Milliseconds: a caller that is still sending mostly reads no answer yet. */
const DISCARD_TIMEOUT = 2_000;

export interface BodyReception {
  /** Bytes. */
  readonly limit: number;
  /** Milliseconds until the last piece. */
  readonly timeout: number;
  readonly take: (chunk: Uint8Array) => void;
}

/** @throws PushError BODY_TOO_LARGE or UNSUPPORTED_ENCODING, as far as the headers tell */
export function checkBodyHeaders(req: IncomingMessage, limit: number): void {
  if (Number(req.headers['content-length'] ?? 0) > limit) throw new PushError('BODY_TOO_LARGE');
  checkEncoding(req);
}

/** @throws PushError UNSUPPORTED_ENCODING */
export function checkEncoding(req: IncomingMessage): void {
  const encodings = headerValues(req.rawHeaders, 'content-encoding');
  const sent = encodings.find((encoding) => encoding.trim().toLowerCase() !== 'identity');
  if (sent !== undefined) throw unsupportedEncoding(sent);
}

const CHARSET = /^\s*(utf-?(8|16|16le|16be)|gb2312|gbk|gb18030|big5|us-ascii|iso-8859-1)\s*$/i;

/** A character set in this header is a common mistake: the header is meant for compression. */
function unsupportedEncoding(sent: string): PushError {
  if (!CHARSET.test(sent)) return new PushError('UNSUPPORTED_ENCODING');
  const { zh, en } = new PushError('UNSUPPORTED_ENCODING').text;
  const header = 'Content-Type: application/json; charset=utf-8';
  return new PushError('UNSUPPORTED_ENCODING', {
    text: {
      zh: `${zh}：该请求头用于压缩方式，不是字符集；请去掉它，字符集写在 ${header}`,
      en: `${en}: this header names a compression, not a character set; leave it out, and send ${header}`,
    },
  });
}

/**
 * @throws PushError BODY_TOO_LARGE, REQUEST_TIMEOUT, or BODY_INCOMPLETE where the caller broke off;
 *   what `take` throws
 */
export function receiveBody(req: IncomingMessage, reception: BodyReception): Promise<void> {
  const { limit, timeout, take } = reception;
  return new Promise((resolve, reject) => {
    let size = 0;
    const settle = (error?: unknown) => {
      clearTimeout(timer);
      stopWaiting();
      req.off('data', onData);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) return settle(new PushError('BODY_TOO_LARGE'));
      const began = performance.now();
      try {
        take(chunk);
      } catch (error) {
        return settle(error);
      }
      worked += performance.now() - began;
      // Of a body that comes fast, megabytes are read in one turn of the event loop.
      if (worked < LONGEST_SLICE) return;
      worked = 0;
      req.pause();
      void slice.next().then(() => req.resume());
    };
    const slice = new TimeSlice();
    /** Milliseconds since the last pause. */
    let worked = 0;
    const timer = setTimeout(() => settle(new PushError('REQUEST_TIMEOUT')), timeout);
    const stopWaiting = finished(req, { writable: false }, (cause) =>
      settle(cause ? new PushError('BODY_INCOMPLETE', { cause }) : undefined),
    );
    req.on('data', onData);
  });
}

/**
 * Reads the rest of a rejected body for a moment, and forgets it: a connection that is closed
 * while its other end is sending often loses the answer.
 */
export async function discardRest(req: IncomingMessage): Promise<void> {
  if (req.complete) return;
  req.resume();
  const signal = AbortSignal.timeout(DISCARD_TIMEOUT);
  await untilFinished(req, { writable: false, signal }).catch(() => undefined);
}
