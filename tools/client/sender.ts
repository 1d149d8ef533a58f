/** One try of one request: signs the bytes, sends them, reads the answer. */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { sign } from '../../src/protocol/signature';
import { LONGEST_TIMER } from './call';

/** Bytes. Queries answer with hundreds of matters, each with its contents. */
const MAX_ANSWER = 256 * 1024 * 1024;

export interface OutgoingRequest {
  /** Below the service's address. */
  readonly path: string;
  readonly body: Buffer;
  readonly idempotencyKey: string | undefined;
  /** How many times the sender's time for a try it may take; once, where it is absent. */
  readonly patience?: number;
}

/** What came back, not yet judged. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** The Retry-After header. */
  readonly retryAfter: string | undefined;
  /** The RateLimit-Policy header. */
  readonly ratePolicy?: string | undefined;
  readonly replayed: boolean;
}

export interface Sender {
  /**
   * Sends once, with a fresh timestamp.
   *
   * @param cut aborted: the answer is not waited for any more
   * @throws the system's or node's error where no whole answer came in time
   */
  send(request: OutgoingRequest, cut?: AbortSignal): Promise<Answer>;
  /** Cuts off what is still under way, unless the connections are another's. */
  close(): void;
}

export interface SenderOptions {
  /** Of the service, without a slash at the end. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Connections that are kept open. */
  readonly concurrency: number;
  /** For one try, in milliseconds. */
  readonly timeout: number;
  /** Connections of somebody else's. */
  readonly agent?: HttpAgent | undefined;
}

class NoAnswerInTime extends Error {
  readonly code = 'NO_ANSWER_IN_TIME';
  override readonly message = 'no answer in time';
}

export function createSender(options: SenderOptions): Sender {
  const { url, clientId, secret, concurrency, timeout } = options;
  const isHttps = url.startsWith('https:');
  const pool = { keepAlive: true, maxSockets: concurrency, scheduling: 'lifo' } as const;
  const own = options.agent ? undefined : isHttps ? new HttpsAgent(pool) : new HttpAgent(pool);
  const agent = options.agent ?? own;
  const request = isHttps ? requestHttps : requestHttp;
  return {
    send: ({ path, body, idempotencyKey, patience = 1 }, cut) =>
      new Promise((resolve, reject) => {
        const timestamp = String(Math.floor(Date.now() / 1000));
        const headers = {
          'Content-Type': 'application/json; charset=utf-8',
          // What it says, developers read in logs.
          'Accept-Language': 'en',
          'Content-Length': body.length,
          'X-Client-Id': clientId,
          'X-Timestamp': timestamp,
          'X-Signature': sign(secret, clientId, timestamp, body),
          ...(idempotencyKey !== undefined && { 'X-Idempotency-Key': idempotencyKey }),
        };
        const sent = request(url + path, {
          method: 'POST',
          agent,
          headers,
          ...(cut && { signal: cut }),
        });
        // For the whole of it: node's own timeout starts anew with every byte.
        const timer = setTimeout(
          () => sent.destroy(new NoAnswerInTime()),
          Math.min(timeout * patience, LONGEST_TIMER),
        );
        sent
          .on('error', reject)
          .on('close', () => clearTimeout(timer))
          .on('response', (response) => readAnswer(response).then(resolve, reject))
          .end(body);
      }),
    close: () => own?.destroy(),
  };
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw new Error('the answer is too large to be one of Matter Push');
    chunks.push(chunk);
  }
  return {
    status: response.statusCode ?? 0,
    text: Buffer.concat(chunks).toString('utf8'),
    retryAfter: response.headers['retry-after'],
    ratePolicy: response.headers['ratelimit-policy']?.toString(),
    replayed: response.headers['idempotency-replayed'] === 'true',
  };
}
