/** The HTTP server around the app: every wait on a caller has a deadline. */
import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Types } from 'mongoose';
import { errorEnvelope } from '../contract/envelope';
import { PushError } from '../errors';

const HEADERS_TIMEOUT = 10_000;
/** Of the longest bodies; each route has its own, shorter one. */
const REQUEST_TIMEOUT = 125_000;
/** Longer than the idle time of the usual proxies, so that they close first. */
const KEEP_ALIVE_TIMEOUT = 65_000;

export interface HttpServer {
  readonly url: string;
  /** Stops accepting and resolves when every request that was under way is answered. */
  close(): Promise<void>;
}

/** @throws Error naming HOST and PORT where it cannot listen */
export async function listen(
  handler: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<HttpServer> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT,
      requestTimeout: REQUEST_TIMEOUT,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16 * 1024,
    },
    handler,
  );
  server.on('clientError', answerBrokenRequest);
  // An expectation that nobody knows is no reason to leave the envelope.
  server.on('checkExpectation', handler);
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

/** What is not even HTTP gets the envelope too, written by hand: there is no response object. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const timedOut = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const refusal = new PushError(timedOut ? 'REQUEST_TIMEOUT' : 'MALFORMED_REQUEST');
  const envelope = errorEnvelope(refusal, String(new Types.ObjectId()), Date.now());
  const body = JSON.stringify(envelope);
  const head = [
    `HTTP/1.1 ${refusal.code} ${STATUS_CODES[refusal.code]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
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
