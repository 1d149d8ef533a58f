/** The HTTP server of the internal port: GET /metrics, /healthz, /readyz, and the optional operator page. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LogLine } from '../../infra/folded-log';
import { API_HEADERS, isAcceptedHost } from '../../protocol/headers';
import { ALIVE_PATH, READY_PATH } from '../../protocol/paths';
import type { OperatorPage } from '../options';

/** Milliseconds in which a request must arrive. */
const HEAD_TIMEOUT = 5_000;
/** Milliseconds before the server closes an idle connection. */
const IDLE_TIMEOUT = 65_000;
/** Maximum milliseconds without traffic during a request. */
const STALL_TIMEOUT = 10_000;
const MAX_CONNECTIONS = 100;

export interface MetricsEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

export interface InternalPages {
  readonly contentType: string;
  /** The metrics in the text format of Prometheus. */
  text(): Promise<string>;
  /** Whether MongoDB and Redis are available; never rejects. */
  isReady(): Promise<boolean>;
}

export interface InternalPort {
  readonly host: string;
  readonly port: number;
  readonly operatorPage?: OperatorPage | undefined;
  readonly log: LogLine;
}

export async function serveMetrics(
  pages: InternalPages,
  { host, port, operatorPage, log }: InternalPort,
): Promise<MetricsEndpoint> {
  const server = createServer(
    {
      headersTimeout: HEAD_TIMEOUT,
      requestTimeout: HEAD_TIMEOUT,
      keepAliveTimeout: IDLE_TIMEOUT,
      connectionsCheckingInterval: 1_000,
    },
    withAcceptedHost(host, log, answering(pages, operatorPage)),
  );
  server.maxConnections = MAX_CONNECTIONS;
  // Some health checkers half-close the connection before the answer.
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
        // An open connection must not delay the end of the process.
        server.closeAllConnections();
      }),
  };
}

const REJECTED = {
  level: 'warn',
  text: 'request on the internal port rejected',
  reason: 'HOST_NOT_ACCEPTED',
} as const;
const LOGGED_HOST = 100;

/** Rejects requests with an unknown `Host` header, to prevent DNS rebinding. */
function withAcceptedHost(ownName: string, log: LogLine, answer: RequestListener): RequestListener {
  return (req, res) => {
    const { host } = req.headers;
    if (isAcceptedHost(host, ownName)) return answer(req, res);
    const address = req.socket.remoteAddress;
    log(REJECTED, { host: host?.slice(0, LOGGED_HOST), address });
    res.setHeader('Connection', 'close');
    plain(res, 421, 'The host must be an IP address, localhost or METRICS_HOST');
  };
}

function answering(pages: InternalPages, operatorPage: OperatorPage | undefined): RequestListener {
  return async (req, res) => {
    const [path = ''] = (req.url ?? '').split('?');
    if (operatorPage?.handles(path)) return operatorPage.handle(req, res);
    const page = req.method === 'GET' ? path : '';
    if (page === '/metrics') return sendMetrics(pages, res);
    if (page === ALIVE_PATH) return plain(res, 200, 'alive');
    if (page === READY_PATH) {
      return (await pages.isReady()) ? plain(res, 200, 'ready') : plain(res, 503, 'not ready');
    }
    res.setHeader('Connection', 'close');
    plain(res, 404, 'Not found');
  };
}

async function sendMetrics({ contentType, text }: InternalPages, res: ServerResponse) {
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
