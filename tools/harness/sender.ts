/** The lean sender of tools: one signed request, its whole answer, how long that took. No retries. */
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request,
} from 'node:http';
import { sign } from '../../src/protocol/signature';

export interface Caller {
  readonly clientId: string;
  readonly secret: string;
}

export interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Milliseconds of this process' own monotonic clock. */
  readonly sentAt: number;
  readonly endedAt: number;
}

/** No whole answer came in time. */
export class Hung extends Error {}

/** Before the web process closes an idle connection: a push on its way to a closed one would be lost. */
const IDLE_TIMEOUT = 10_000;

/** Sends to one web process, over as many connections as there are requests under way. */
export class Sender {
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

  /** @throws Hung where no answer came in time, and node's error where the connection broke */
  post(path: string, headers: OutgoingHttpHeaders, body: Buffer): Promise<Answer> {
    const { hostname: host, port } = new URL(this.url);
    const to = { host, port, path, method: 'POST', agent: this.agent, headers };
    return exchange(to, body, this.timeout);
  }

  close(): void {
    this.agent.destroy();
  }
}

function exchange(to: RequestOptions, body: Buffer, timeout: number): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const answered = new Promise<Answer>((resolve, reject) => {
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

/** @param signature the right one, if absent */
export function signedHeaders(
  { clientId, secret }: Caller,
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

/** As requests carry it: epoch seconds. */
export const timestampNow = (): string => String(Math.floor(Date.now() / 1_000));
