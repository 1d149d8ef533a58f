/** The internal port: GET /metrics, /healthz, /readyz, what is given to be shown beside, and nothing else. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isAcceptedHost } from '../../protocol/accepted-host';
import { API_HEADERS } from '../../protocol/headers';
import { ALIVE_PATH, READY_PATH } from '../../protocol/paths';
import type { TellLine } from '../../runtime/folded-log';
import type { Beside } from './options';

/** Milliseconds for the head of a request, and of silence on a connection. */
const HEAD_TIMEOUT = 5_000;
const IDLE_TIMEOUT = 65_000;
const STALL_TIMEOUT = 10_000;
/** A handful of scrapers, and room for a mistake. */
const MAX_CONNECTIONS = 100;

export interface MetricsEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

export interface InternalPages {
  readonly contentType: string;
  text(): Promise<string>;
  /** Whether the servers are there. It does not fail. */
  isReady(): Promise<boolean>;
}

export interface InternalPort {
  /** METRICS_HOST */
  readonly host: string;
  /** METRICS_PORT */
  readonly port: number;
  readonly beside?: Beside | undefined;
  /** Logs requests that are rejected. */
  readonly tell: TellLine;
}

/** @throws Error naming METRICS_HOST and METRICS_PORT where it cannot listen */
export async function serveMetrics(
  pages: InternalPages,
  { host, port, beside, tell }: InternalPort,
): Promise<MetricsEndpoint> {
  const server = createServer(
    {
      headersTimeout: HEAD_TIMEOUT,
      requestTimeout: HEAD_TIMEOUT,
      keepAliveTimeout: IDLE_TIMEOUT,
      connectionsCheckingInterval: 1_000,
    },
    withAcceptedHost(host, tell, answering(pages, beside)),
  );
  server.maxConnections = MAX_CONNECTIONS;
  // A health checker may close its sending side after its request; see http-server.ts.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.setTimeout(STALL_TIMEOUT);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const where = `${host}:${port} (METRICS_HOST, METRICS_PORT)`;
      reject(new Error(`cannot listen on ${where}: ${cause.message}`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { address, port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${taken}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Nobody is owed a last look: the process must not wait for a scraper.
        server.closeAllConnections();
      }),
  };
}

const REJECTED = {
  level: 'warn',
  text: 'request on the internal port rejected',
  reason: 'HOST_NOT_ACCEPTED',
} as const;
/** Longest part of a Host header in the log. */
const LOGGED_HOST = 100;

/** Before everything that the port shows: names of clients, the queue, figures. */
function withAcceptedHost(
  ownName: string,
  tell: TellLine,
  answer: RequestListener,
): RequestListener {
  return (req, res) => {
    const { host } = req.headers;
    if (isAcceptedHost(host, ownName)) return answer(req, res);
    const address = req.socket.remoteAddress;
    tell(REJECTED, { host: host?.slice(0, LOGGED_HOST), address });
    res.setHeader('Connection', 'close');
    plain(res, 421, 'Address this port by an IP address, localhost or METRICS_HOST');
  };
}

function answering(pages: InternalPages, beside: Beside | undefined): RequestListener {
  return async (req, res) => {
    const [path = ''] = (req.url ?? '').split('?');
    if (beside?.owns(path)) return beside.answer(req, res);
    const page = req.method === 'GET' ? path : '';
    if (page === '/metrics') return tellMetrics(pages, res);
    if (page === ALIVE_PATH) return plain(res, 200, 'alive');
    if (page === READY_PATH) {
      return (await pages.isReady()) ? plain(res, 200, 'ready') : plain(res, 503, 'not ready');
    }
    res.setHeader('Connection', 'close');
    plain(res, 404, 'Not found');
  };
}

async function tellMetrics({ contentType, text }: InternalPages, res: ServerResponse) {
  try {
    const body = await text();
    res.writeHead(200, { ...API_HEADERS, 'Content-Type': contentType }).end(body);
  } catch (error) {
    plain(res, 500, String(error));
  }
}

function plain(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { ...API_HEADERS, 'Content-Type': 'text/plain' }).end(`${text}\n`);
}
