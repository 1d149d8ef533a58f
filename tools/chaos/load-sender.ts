/** The lean sender of a load: one signed push, its answer, how long it took. No retries. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { sign } from '../../src/protocol/signature';
import type { ClusterClient } from './directory';

/** What became of one push of a load. */
export interface LoadAnswer {
  /**
   * Milliseconds of the harness' own monotonic clock. Where pushes arrive at fixed times, it is the
   * time at which it was due: whoever is late with sending makes its caller wait too.
   */
  readonly sentAt: number;
  readonly endedAt: number;
  /**
   * `0`, `503 BACKLOG_FULL` and so on; `lost ECONNRESET` where no whole answer came, `hung` where
   * none came in time, `not JSON` where it is none of the service.
   */
  readonly kind: string;
  /** The header Retry-After; both headers of the rate. */
  readonly hasRetryAfter: boolean;
  readonly hasRate: boolean;
}

interface LoadSender {
  /** Sends an upsert once; never rejects. */
  send(body: string): Promise<LoadAnswer>;
  close(): void;
}

const PATH = '/api/open/matters/upsert';
/** Before the web process closes an idle connection: a push on its way to a closed one would be lost. */
const IDLE_TIMEOUT = 10_000;
/** Milliseconds for an answer: far beyond every deadline. */
const TIMEOUT = 30_000;

/**
 * @param timeout milliseconds for an answer
 * @returns a sender with as many connections as there are pushes under way
 */
export function createLoadSender(
  url: string,
  client: ClusterClient,
  timeout = TIMEOUT,
): LoadSender {
  const { hostname: host, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: IDLE_TIMEOUT });
  const to = { host, port, path: PATH, method: 'POST', agent };
  return {
    send: (body) =>
      new Promise((resolve) => {
        const bytes = Buffer.from(body);
        const headers = headersOf(client, bytes);
        const sentAt = performance.now();
        const outgoing = request({ ...to, headers });
        const end = (seen: Seen) => {
          clearTimeout(timer);
          resolve({ sentAt, endedAt: performance.now(), ...NO_HEADERS, ...seen });
        };
        const lost = (error: NodeJS.ErrnoException) =>
          end({ kind: `lost ${error.code ?? error.message}` });
        const timer = setTimeout(() => {
          end({ kind: 'hung' });
          outgoing.destroy();
        }, timeout);
        outgoing
          .on('error', lost)
          .on('response', (response) => {
            readAnswer(response, end);
            response.on('error', lost);
          })
          .end(bytes);
      }),
    close: () => agent.destroy(),
  };
}

function headersOf({ clientId, secret }: ClusterClient, body: Buffer) {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(secret, clientId, timestamp, body),
  };
}

type Seen = Pick<LoadAnswer, 'kind'> & Partial<LoadAnswer>;
const NO_HEADERS = { hasRetryAfter: false, hasRate: false };

function readAnswer(response: IncomingMessage, end: (seen: Seen) => void): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('end', () => {
    const { headers } = response;
    end({
      kind: kindOf(Buffer.concat(chunks).toString('utf8')),
      hasRetryAfter: headers['retry-after'] !== undefined,
      hasRate: headers.ratelimit !== undefined && headers['ratelimit-policy'] !== undefined,
    });
  });
}

function kindOf(text: string): string {
  try {
    const { code, reason } = JSON.parse(text);
    return code === 0 ? '0' : `${code} ${reason}`;
  } catch {
    return 'not JSON';
  }
}
