/** A third party as the tests play it: signs the exact bytes and sends them. */
import { type IncomingMessage, request } from 'node:http';
import { sign } from '../../src/protocol/signature';
import { keepAliveAgent } from './keep-alive';

const agent = keepAliveAgent(512);

export interface PushOptions {
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  readonly operation: string;
  /** Sent as it is where it is a string or bytes; otherwise as JSON. */
  readonly body: unknown;
  /** Epoch seconds; now, where absent. */
  readonly timestamp?: string;
  /** Added to the signed headers; `undefined` takes one away, a list sends it more than once. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly idempotencyKey?: string;
  readonly path?: string;
  readonly method?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly code: number;
  readonly message: string;
  readonly reason?: string;
  readonly retryable?: boolean;
  readonly requestId: string;
  readonly timestamp: string;
  readonly errors?: { field: string; message: string }[];
  readonly data: { matterId: string; externalId: string; outcome: string; warnings?: unknown[] };
}

/** @throws where the connection fails or the answer is not the envelope */
export function push(options: PushOptions): Promise<Answer> {
  const { clientId, secret, operation, body } = options;
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const bytes = Buffer.from(raw);
  const timestamp = options.timestamp ?? String(Math.floor(Date.now() / 1000));
  const signed = {
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(secret, clientId, timestamp, bytes),
    'Content-Type': 'application/json',
    'Content-Length': String(bytes.length),
    ...(options.idempotencyKey && { 'X-Idempotency-Key': options.idempotencyKey }),
    ...options.headers,
  };
  const sent = Object.entries(signed).filter(([, value]) => value !== undefined);
  const path = options.path ?? `/api/open/matters/${operation}`;
  return new Promise((resolve, reject) => {
    const req = request(
      options.url + path,
      {
        method: options.method ?? 'POST',
        agent,
        headers: Object.fromEntries(sent),
        timeout: 180_000,
      },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk) => chunks.push(chunk));
        res.on('end', () => {
          try {
            const envelope = JSON.parse(Buffer.concat(chunks).toString());
            resolve({ status: res.statusCode ?? 0, headers: res.headers, ...envelope });
          } catch (error) {
            reject(error);
          }
        });
        res.on('error', reject);
      },
    );
    req.on('error', (error) => {
      if (req.reusedSocket) error.message += ' on a connection that served a request before';
      reject(error);
    });
    req.on('timeout', () => req.destroy(new Error('no answer within three minutes')));
    req.end(bytes);
  });
}
