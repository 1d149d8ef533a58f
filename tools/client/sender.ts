/** One try of one request: signs the bytes, sends them, reads the answer. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { sign } from '../../src/protocol/signature';
import { exchange, type HttpAnswer } from './exchange';
import type { Confirms } from './verdict';

export type { HttpAnswer } from './exchange';

export interface OutgoingRequest {
  /** Below the service's address. */
  readonly path: string;
  readonly body: Buffer;
  readonly idempotencyKey: string | undefined;
  /** How many times the sender's time for a try it may take; once, where it is absent. */
  readonly patience?: number;
  /** What a success of the endpoint has. */
  readonly confirms?: Confirms;
}

export interface Sender {
  /**
   * Sends once, with a fresh timestamp.
   *
   * @param cut aborted: the answer is not waited for any more
   * @throws the system's or node's error where no whole answer came in time
   */
  send(request: OutgoingRequest, cut?: AbortSignal): Promise<HttpAnswer>;
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

export function createSender(options: SenderOptions): Sender {
  const { url, clientId, secret, concurrency, timeout } = options;
  const pool = { keepAlive: true, maxSockets: concurrency, scheduling: 'lifo' } as const;
  const isHttps = url.startsWith('https:');
  const own = options.agent ? undefined : isHttps ? new HttpsAgent(pool) : new HttpAgent(pool);
  const agent = options.agent ?? own;
  return {
    send: ({ path, body, idempotencyKey, patience = 1 }, cut) => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const headers = {
        'Content-Type': 'application/json; charset=utf-8',
        // What it says, developers read in logs.
        'Accept-Language': 'en',
        'X-Client-Id': clientId,
        'X-Timestamp': timestamp,
        'X-Signature': sign(secret, clientId, timestamp, body),
        ...(idempotencyKey !== undefined && { 'X-Idempotency-Key': idempotencyKey }),
      };
      return exchange(
        { method: 'POST', url: url + path, headers, body, agent, timeout: timeout * patience },
        cut,
      );
    },
    close: () => own?.destroy(),
  };
}
