/** Sends a request once: signs the bytes, sends them and reads the answer. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { sign } from '../../src/protocol/signature';
import { exchange, type HttpAnswer } from './exchange';
import type { Confirms } from './verdict';

export type { HttpAnswer } from './exchange';

export interface OutgoingRequest {
  /** The path below the URL of the service. */
  readonly path: string;
  readonly body: Buffer;
  readonly idempotencyKey: string | undefined;
  /** Factor for the timeout of the sender; 1 by default. */
  readonly patience?: number;
  /** Checks `data` of a success of this endpoint. */
  readonly confirms?: Confirms;
}

export interface Sender {
  /**
   * Sends the request once, with a new timestamp.
   *
   * @param cut aborted: the request is cancelled
   * @throws an error of the system or of Node if no complete answer arrives in time
   */
  send(request: OutgoingRequest, cut?: AbortSignal): Promise<HttpAnswer>;
  /** Closes the client's own connections, also those with a running request. */
  close(): void;
}

export interface SenderOptions {
  /** URL of the service, without a slash at the end. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Maximum open connections. */
  readonly concurrency: number;
  /** Milliseconds for one try. */
  readonly timeout: number;
  /** The caller's connections, in place of the client's own. */
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
        // Developers read the messages in logs.
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
