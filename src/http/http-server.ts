/** The HTTP server around the app: every wait on a caller has a deadline. */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type BrokenRequestOptions,
  type BrokenRequests,
  createBrokenRequests,
} from './broken-request';

const HEADERS_TIMEOUT = 10_000;
/** Of the longest bodies; each route has its own, shorter one. */
const REQUEST_TIMEOUT = 125_000;
/** In which a caller must take some of an answer that is there. The first bytes make it begin anew. */
const STALL_TIMEOUT = 10_000;
/** Of a connection on which a tunnel was asked for: what came before it must be over by then. */
const TUNNEL_TIMEOUT = 15_000;

const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: HEADERS_TIMEOUT,
  requestTimeout: REQUEST_TIMEOUT,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  // Node's own rejection would be empty: takeHead looks at it.
  requireHostHeader: false,
};

export interface HttpServer {
  readonly url: string;
  /** Stops accepting and resolves when every request that was under way is answered. */
  close(): Promise<void>;
}

export interface ListenOptions extends BrokenRequestOptions {
  /** HOST, PORT */
  readonly host: string;
  readonly port: number;
  /** KEEP_ALIVE_TIMEOUT, milliseconds: how long an idle connection is kept. */
  readonly keepAlive?: number;
}

/** @throws Error naming HOST and PORT where it cannot listen */
export async function listen(
  handler: RequestListener,
  { host, port, ...options }: ListenOptions,
): Promise<HttpServer> {
  const server = createBoundedServer(handler, options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new Error(`cannot listen on ${host}:${port} (HOST, PORT): ${cause.message}`, { cause }),
      );
    });
    server.listen(port, host, resolve);
  });
  return { url: urlOf(server), close: () => closeGently(server) };
}

function createBoundedServer(
  handler: RequestListener,
  { keepAlive = 65_000, ...options }: Omit<ListenOptions, 'host' | 'port'>,
): Server {
  const broken = createBrokenRequests(options);
  const used = new WeakSet<Duplex>();
  const handle: RequestListener = (req, res) => {
    used.add(req.socket);
    if (broken.begin(req, res)) handler(req, res);
  };
  const server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: keepAlive }, handle);
  // A client may close its sending side after its request and still read: without this Node would close the
  // connection before the answer. Every handler has a deadline, and STALL_TIMEOUT ends a client that does not read.
  Object.assign(server, { httpAllowHalfOpen: true });
  // Their size bounds them. Beyond a number Node drops headers, and a double would not show.
  server.maxHeadersCount = 0;
  server.on('clientError', (error, socket) => broken.answer(socket, error));
  server.on('connect', (_req, socket) => answerTunnel(socket, broken));
  // An expectation that nobody knows is no reason to leave the envelope.
  server.on('checkExpectation', handle);
  server.setTimeout(STALL_TIMEOUT, (socket) => {
    // Kept alive after an answer, for KEEP_ALIVE_TIMEOUT: Node has set that time. One that was never used has the
    // time for its first head.
    const isIdle = used.has(socket) && !broken.isBusy(socket);
    if (isIdle || socket.writableLength > 0) socket.destroy();
  });
  return server;
}

/**
 * For a tunnel Node takes all of its listeners off: a reset would end the process, and nobody would notice
 * a caller that takes no answer.
 */
function answerTunnel(socket: Duplex, broken: BrokenRequests): void {
  socket.on('error', () => socket.destroy());
  const timer = setTimeout(() => socket.destroy(), TUNNEL_TIMEOUT);
  socket.once('close', () => clearTimeout(timer));
  broken.answer(socket);
}

function closeGently(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    // A connection that is kept alive after its last answer would hold the process for a minute.
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
  const everywhere = address === '0.0.0.0' || address === '::';
  const host = everywhere ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
