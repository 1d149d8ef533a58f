/** The HTTP server. Every wait for a client has a deadline. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { headerValues } from '../auth/auth-headers';
import { foldedLog } from '../infra/folded-log';
import type { Lifecycle } from '../infra/lifecycle';
import type { Logger } from '../infra/logger';
import type { HealthProbe } from './health';
import {
  answerMalformedRequest,
  type MalformedRequest,
  type MalformedRequestOptions,
} from './malformed-request';
import { collectRequests } from './new-connections';

/** Milliseconds in which the head of a request must arrive. */
const HEADERS_TIMEOUT = 10_000;
/** Milliseconds in which a whole request must arrive. */
const REQUEST_TIMEOUT = 125_000;
/** The server disconnects a client that reads nothing of its answer for this many milliseconds. */
const STALL_TIMEOUT = 10_000;
/** Maximum milliseconds from a CONNECT request until the server closes the connection. */
const CONNECT_REQUEST_TIMEOUT = 15_000;

const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: HEADERS_TIMEOUT,
  requestTimeout: REQUEST_TIMEOUT,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  // `acceptHead` checks the Host header, because Node's own error answer has no envelope.
  requireHostHeader: false,
};

interface Serving {
  /** KEEP_ALIVE_TIMEOUT and DRAIN_DELAY are in milliseconds. */
  readonly config: Readonly<Record<'PORT' | 'KEEP_ALIVE_TIMEOUT' | 'DRAIN_DELAY', number>> & {
    readonly HOST: string;
  };
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
}

interface Served {
  readonly handler: RequestListener;
  readonly health: HealthProbe;
  /** The path of PUBLIC_URL. */
  readonly pathPrefix: string;
}

/** @throws Error if the server cannot listen on HOST and PORT */
export async function serve(
  { config, logger, lifecycle }: Serving,
  { handler, health, pathPrefix }: Served,
): Promise<string> {
  const log = foldedLog(logger);
  const report = ({ reason, code, ...details }: MalformedRequest) =>
    log({ level: 'info', text: 'rejected', reason, code }, details);
  const server = await listen(handler, {
    host: config.HOST,
    port: config.PORT,
    keepAlive: config.KEEP_ALIVE_TIMEOUT,
    pathPrefix,
    report,
  });
  lifecycle.onDrain('server', async () => {
    health.leave();
    // The load balancer needs time to notice that this process is not ready.
    await sleep(config.DRAIN_DELAY);
    health.drain();
    await server.close();
  });
  return server.url;
}

export interface HttpServer {
  readonly url: string;
  /** Stops accepting connections and resolves when every running request is answered. */
  close(): Promise<void>;
}

export interface ListenOptions extends MalformedRequestOptions {
  readonly host: string;
  readonly port: number;
  /** KEEP_ALIVE_TIMEOUT: milliseconds after which the server closes an idle connection. */
  readonly keepAlive?: number;
}

/** @throws Error naming HOST and PORT if the server cannot listen */
export async function listen(
  handler: RequestListener,
  { host, port, ...options }: ListenOptions,
): Promise<HttpServer> {
  const server = createHttpServer(handler, options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new Error(`cannot listen on ${host}:${port} (HOST, PORT): ${cause.message}`, { cause }),
      );
    });
    server.listen(port, host, resolve);
  });
  return { url: urlOf(server), close: () => closeAfterAnswers(server) };
}

function createHttpServer(
  handler: RequestListener,
  { keepAlive = 65_000, ...options }: Omit<ListenOptions, 'host' | 'port'>,
): Server {
  const unanswered = new WeakMap<Duplex, Set<ServerResponse>>();
  const rejected = new WeakSet<Duplex>();
  const reject = (socket: Duplex, error?: NodeJS.ErrnoException) => {
    if (rejected.has(socket)) return;
    rejected.add(socket);
    answerMalformedRequest(socket, unanswered.get(socket) ?? new Set(), options, error);
  };
  const handle: RequestListener = (req, res) => {
    const { socket } = req;
    const responses = unanswered.get(socket) ?? new Set();
    unanswered.set(socket, responses);
    if (rejected.has(socket)) return;
    if (!acceptHead(req)) {
      reject(socket);
      return;
    }
    responses.add(res);
    res.once('close', () => responses.delete(res));
    run(() => {
      // The connection can fail while `run` delays the request.
      if (!req.destroyed) handler(req, res);
    });
  };
  const server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: keepAlive }, handle);
  const run = collectRequests(server);
  // A client may close its sending side after the request. With this option, Node still sends the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  // 0 means no limit. Above a limit, Node silently drops headers.
  server.maxHeadersCount = 0;
  server.on('clientError', (error, socket) => reject(socket, error));
  server.on('connect', (_req, socket) => answerConnect(socket, () => reject(socket)));
  // Node's own answer to an unknown `Expect` header has no envelope.
  server.on('checkExpectation', handle);
  server.setTimeout(STALL_TIMEOUT, (socket) => {
    // Node calls this listener after KEEP_ALIVE_TIMEOUT for idle connections, otherwise after STALL_TIMEOUT.
    const isIdle = unanswered.get(socket)?.size === 0;
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
  return server;
}

/** Scheme and host of a request target. */
const ABSOLUTE = /^https?:\/\/[^/?#]*/i;

/**
 * Prevents request smuggling: a proxy and this server must agree on the target and the end of each request. Removes
 * scheme and host from `req.url`, because the host may be invalid.
 *
 * @returns whether the head is unambiguous
 */
function acceptHead(req: IncomingMessage): boolean {
  const { httpVersion, rawHeaders } = req;
  const target = (req.url ?? '').replace(ABSOLUTE, '');
  req.url = target;
  const isPath = target.startsWith('/') && !target.includes('#');
  const hosts = headerValues(rawHeaders, 'host').length;
  const codings = headerValues(rawHeaders, 'transfer-encoding').map((it) => it.toLowerCase());
  // This server reads only the `chunked` coding, which HTTP/1.0 does not have.
  const isChunked = httpVersion === '1.1' && codings.join() === 'chunked';
  return (
    (isPath || target === '*') &&
    (httpVersion === '1.1' ? hosts === 1 : httpVersion === '1.0' && hosts <= 1) &&
    (codings.length === 0 || isChunked)
  );
}

/**
 * For a CONNECT request, Node removes its own listeners from the socket. An `error` event without a listener ends the
 * process.
 */
function answerConnect(socket: Duplex, answer: () => void): void {
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), CONNECT_REQUEST_TIMEOUT);
  socket.once('close', () => clearTimeout(timer));
  answer();
}

function closeAfterAnswers(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    // Idle connections must not delay the end of the process.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close((error) => {
      clearInterval(idle);
      if (error) reject(error);
      else resolve();
    });
  });
}

function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  const isWildcard = address === '0.0.0.0' || address === '::';
  const host = isWildcard ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
