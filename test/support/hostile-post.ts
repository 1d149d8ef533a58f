/** A caller that sends what no library would: header lists as they are, bytes, bodies without length. */
import { type IncomingHttpHeaders, request } from 'node:http';
import { sign } from '../../src/protocol/signature';
import { keepAliveAgent } from './keep-alive';

/** As many at a time as one system may have queries under way. */
const agent = keepAliveAgent(8);
/** Longer than the service lets any caller wait, so that a hang is told apart from an answer. */
const TIMEOUT = 180_000;

export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The answer's body as it came. */
  readonly text: string;
}

export interface Signing {
  readonly clientId: string;
  readonly secret: string;
  /** Epoch seconds, or whatever is signed in their place. */
  readonly timestamp: string;
}

export const epochSeconds = () => Math.floor(Date.now() / 1000);

/** The three headers of a well signed request. */
export function signedHeaders(
  { clientId, secret, timestamp }: Signing,
  body: Uint8Array,
): [string, string][] {
  return [
    ['X-Client-Id', clientId],
    ['X-Timestamp', timestamp],
    ['X-Signature', sign(secret, clientId, timestamp, body)],
  ];
}

/**
 * Posts a body with exactly these headers, and `Content-Length` unless it goes in chunks.
 *
 * @throws where there is no answer within three minutes
 */
export function post(
  url: string,
  headers: HeaderList,
  body: Uint8Array,
  { chunked = false } = {},
): Promise<Exchange> {
  const framing: HeaderList = chunked
    ? [['Transfer-Encoding', 'chunked']]
    : [['Content-Length', String(body.length)]];
  // A list that is given when the request is made goes out as it is, doubles and all.
  const list = [...headers, ...framing, ['Host', new URL(url).host]].flat();
  return new Promise((resolve, reject) => {
    const req = request(url, { method: 'POST', agent, headers: list, timeout: TIMEOUT }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text });
      });
      res.on('error', reject);
    });
    req.on('error', reject);
    req.on('timeout', () => req.destroy(new Error(`no answer within ${TIMEOUT} ms`)));
    req.end(body);
  });
}
