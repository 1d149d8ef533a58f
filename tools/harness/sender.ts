/** A sender for measurements: one signed request, its complete answer and its times, without retries. */
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
} from 'node:http';
import { sign } from '../../src/protocol/signature';

export interface SigningCaller {
  readonly clientId: string;
  readonly secret: string;
}

export interface SentAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Milliseconds of this process' own monotonic clock. */
  readonly sentAt: number;
  readonly endedAt: number;
}

/** The complete answer did not arrive in time. */
export class Hung extends Error {}

/** Milliseconds; less than in the web process, because a push on a connection that it has just closed would be lost. */
export const IDLE_TIMEOUT = 10_000;

/** Sends to one web process. Each request in flight has its own connection. */
export class HttpSender {
  private readonly agent = new Agent({
    keepAlive: true,
    scheduling: 'lifo',
    timeout: IDLE_TIMEOUT,
  });

  /** @param timeout milliseconds for an answer */
  constructor(
    private readonly url: string,
    private readonly timeout: number,
  ) {}

  /** @throws Hung without an answer in time, or Node's error if the connection breaks */
  post(path: string, headers: OutgoingHttpHeaders, body: Buffer): Promise<SentAnswer> {
    const { hostname: host, port } = new URL(this.url);
    const to = { host, port, path, method: 'POST', agent: this.agent, headers };
    return exchange(to, body, this.timeout);
  }

  close(): void {
    this.agent.destroy();
  }
}

function exchange(to: RequestOptions, body: Buffer, timeout: number): Promise<SentAnswer> {
  let timer: NodeJS.Timeout | undefined;
  const answered = new Promise<SentAnswer>((resolve, reject) => {
    const sent = request(to);
    const end = ({ headers }: IncomingMessage, text: string) =>
      resolve({ headers, text, sentAt, endedAt: performance.now() });
    sent.on('error', reject);
    sent.on('response', (response) =>
      readText(response).then((text) => end(response, text), reject),
    );
    timer = setTimeout(() => {
      reject(new Hung(`no answer within ${timeout} ms`));
      sent.destroy();
    }, timeout);
    const sentAt = performance.now();
    sent.end(body);
  });
  return answered.finally(() => clearTimeout(timer));
}

function readText(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('error', reject)
      .on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

/** @param signature the correct one if absent */
export function signedHeaders(
  { clientId, secret }: SigningCaller,
  body: Buffer,
  timestamp: string = timestampNow(),
  signature: string = sign(secret, clientId, timestamp, body),
): OutgoingHttpHeaders {
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': signature,
  };
}

/** Epoch seconds, as in X-Timestamp. */
export const timestampNow = (): string => String(Math.floor(Date.now() / 1_000));
