/** Answers malformed and ambiguous requests directly on the connection, without Koa. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Types } from 'mongoose';
import { errorEnvelope, withHelpUnder } from '../protocol/envelope';
import { PushError, type Reason } from '../protocol/errors';
import { API_HEADERS } from '../protocol/headers';

/** Maximum milliseconds that the connection stays open after the error answer. */
const LINGER_TIMEOUT = 2_000;
/** The service disconnects a client that sends more than this many bytes after the malformed request. */
const MAX_DISCARDED = 1024 * 1024;

export interface MalformedRequest {
  readonly reason: Reason;
  readonly code: number;
  readonly requestId: string;
  /** The error code from Node; undefined if the service itself rejected the head. */
  readonly cause: string | undefined;
}

export interface MalformedRequestOptions {
  readonly report?: (malformed: MalformedRequest) => void;
  readonly pathPrefix?: string;
}

/**
 * Waits until all earlier requests of the connection are answered. Then answers the malformed request and closes the
 * connection.
 */
export function answerMalformedRequest(
  socket: Duplex,
  unanswered: ReadonlySet<ServerResponse>,
  options: MalformedRequestOptions,
  error?: NodeJS.ErrnoException,
): void {
  if (!socket.writable || error?.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  // `unfinished` is the response to the request whose body caused the error; undefined if a head caused the error. If
  // this response has not begun, the error answer replaces it.
  const unfinished = [...unanswered].find(({ req }) => !req.complete);
  const rejection = new PushError(reasonOf(error, unfinished !== undefined));
  const requestId = String(new Types.ObjectId());
  const { reason, code } = rejection;
  options.report?.({ reason, code, requestId, cause: error?.code });
  const text = answerText(rejection, requestId, options.pathPrefix);
  const answerInTurn = () => {
    const before = [...unanswered].find((res) => res !== unfinished);
    if (before) before.once('close', answerInTurn);
    else sendAndClose(socket, unfinished?.headersSent ? '' : text);
  };
  discardInput(socket);
  answerInTurn();
}

function reasonOf(error: NodeJS.ErrnoException | undefined, isInHandler: boolean): Reason {
  if (error?.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  if (error?.code === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE';
  const isCutOff = error?.code === 'HPE_INVALID_EOF_STATE';
  return isCutOff && isInHandler ? 'BODY_INCOMPLETE' : 'MALFORMED_REQUEST';
}

/** Discards the input, because closing a connection with unread input can destroy the answer. */
function discardInput(socket: Duplex): void {
  let remaining = MAX_DISCARDED;
  // Node's `data` listener parses further requests. Node's `end` listener can close the connection before the answers
  // are sent.
  socket.removeAllListeners('data').removeAllListeners('end');
  socket.on('data', (chunk: Uint8Array) => {
    remaining -= chunk.length;
    if (remaining < 0) socket.destroy();
    // A client that continues to send must not restart the timer of STALL_TIMEOUT (server.ts).
    else if (!socket.writableEnded) socket.pause();
  });
}

function sendAndClose(socket: Duplex, text: string): void {
  socket.end(text);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT);
  socket.once('close', () => clearTimeout(timer));
}

function answerText(rejection: PushError, requestId: string, pathPrefix = ''): string {
  const envelope = errorEnvelope(rejection, requestId, Date.now());
  const body = JSON.stringify(withHelpUnder(pathPrefix, envelope));
  const head = [
    `HTTP/1.1 ${rejection.code} ${STATUS_CODES[rejection.code]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(API_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
