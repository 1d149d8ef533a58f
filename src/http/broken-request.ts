/**
 * What is no request: the parser gives up on it, or its head has two readings. It gets the envelope
 * too, written by hand, and in its turn: a caller that sent good requests before must not take that answer
 * for theirs. Nothing that comes after it on its connection is looked at.
 */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Types } from 'mongoose';
import { errorEnvelope, withHelpUnder } from '../protocol/envelope';
import { PushError, type Reason } from '../protocol/errors';
import { API_HEADERS } from '../protocol/headers';
import { takeHead } from './request-head';

/** Milliseconds in which a caller may read its last answer and close its own end. */
const LINGER = 2_000;
/** Bytes that may still come in the meantime, of one that is not done with sending. */
const MAX_FORGOTTEN = 1024 * 1024;

/** What is logged of a broken request: the reason, and what the parser says. */
export interface BrokenRequest {
  readonly reason: Reason;
  /** The envelope's code. */
  readonly code: number;
  readonly requestId: string;
  readonly cause: string | undefined;
}

export interface BrokenRequestOptions {
  /** Called for each broken request. */
  readonly report?: (broken: BrokenRequest) => void;
  /** Path below which clients reach the service; see PUBLIC_URL. */
  readonly pathPrefix?: string;
}

export interface BrokenRequests {
  /** To be asked about every request that the parser passes on. @returns whether it shall be handled */
  begin(req: IncomingMessage, res: ServerResponse): boolean;
  /** Whether an answer on the connection is still being made or sent. */
  isBusy(socket: Duplex): boolean;
  /** Answers when everything before is answered, and closes the connection. */
  answer(socket: Duplex, error?: NodeJS.ErrnoException): void;
}

export function createBrokenRequests(options: BrokenRequestOptions = {}): BrokenRequests {
  const underWay = new WeakMap<Duplex, Set<ServerResponse>>();
  const over = new WeakSet<Duplex>();
  const of = (socket: Duplex) => underWay.get(socket) ?? new Set();

  const answer: BrokenRequests['answer'] = (socket, error) => {
    if (over.has(socket)) return;
    over.add(socket);
    if (!socket.writable || error?.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    // Its head was fine, its body is broken: its own handler waits for that body in vain.
    const [unfinished] = [...of(socket)].filter(({ req }) => !req.complete);
    const rejection = new PushError(reasonOf(error, unfinished !== undefined));
    const requestId = String(new Types.ObjectId());
    const { reason, code } = rejection;
    options.report?.({ reason, code, requestId, cause: error?.code });
    const text = answerText(rejection, requestId, options.pathPrefix);
    const answerInTurn = () => {
      const before = [...of(socket)].find((res) => res !== unfinished);
      if (before) before.once('close', answerInTurn);
      else endWith(socket, unfinished?.headersSent ? '' : text);
    };
    forgetRest(socket);
    answerInTurn();
  };

  return {
    begin: (req, res) => {
      const { socket } = req;
      if (over.has(socket)) return false;
      if (!takeHead(req)) {
        answer(socket);
        return false;
      }
      const responses = of(socket).add(res);
      underWay.set(socket, responses);
      res.once('close', () => responses.delete(res));
      return true;
    },
    isBusy: (socket) => of(socket).size > 0,
    answer,
  };
}

function reasonOf(error: NodeJS.ErrnoException | undefined, hasBegun: boolean): Reason {
  if (error?.code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  if (error?.code === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE';
  const isCutOff = error?.code === 'HPE_INVALID_EOF_STATE';
  return isCutOff && hasBegun ? 'BODY_INCOMPLETE' : 'MALFORMED_REQUEST';
}

/** What still comes is read and forgotten: a caller whose connection is reset loses the answer. */
function forgetRest(socket: Duplex): void {
  let left = MAX_FORGOTTEN;
  // Node's parser would go on making requests of it. It lets go where somebody else listens. And
  // where the caller has said all, Node would close our end too, before the answers are sent.
  socket.removeAllListeners('data').removeAllListeners('end');
  socket.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
    // While the answer waits for its turn, so that a caller who takes none shows as idle. Paused any
    // earlier the connection would be resumed at the end of the message that Node is reading.
    else if (!socket.writableEnded) socket.pause();
  });
}

function endWith(socket: Duplex, text: string): void {
  socket.end(text);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
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
