/** The internal port: GET /metrics, the queue board where there is one, and nothing else. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
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

export interface MetricsText {
  readonly contentType: string;
  text(): Promise<string>;
}

/** @throws Error naming METRICS_HOST and METRICS_PORT where it cannot listen */
export async function serveMetrics(
  metrics: MetricsText,
  {
    host,
    port,
    beside,
  }: { readonly host: string; readonly port: number; readonly beside?: Beside },
): Promise<MetricsEndpoint> {
  const server = createServer(
    {
      headersTimeout: HEAD_TIMEOUT,
      requestTimeout: HEAD_TIMEOUT,
      keepAliveTimeout: IDLE_TIMEOUT,
      connectionsCheckingInterval: 1_000,
    },
    answering(metrics, beside),
  );
  server.maxConnections = MAX_CONNECTIONS;
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

function answering({ contentType, text }: MetricsText, beside?: Beside): RequestListener {
  return async (req, res) => {
    const [path = ''] = (req.url ?? '').split('?');
    if (beside && `${path}/`.startsWith(`${beside.path}/`)) return beside.answer(req, res);
    if (req.method !== 'GET' || path !== '/metrics') {
      res.writeHead(404, { 'Content-Type': 'text/plain', Connection: 'close' }).end('Not found\n');
      return;
    }
    try {
      const body = await text();
      res.writeHead(200, { 'Content-Type': contentType }).end(body);
    } catch (error) {
      res.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${error}\n`);
    }
  };
}
