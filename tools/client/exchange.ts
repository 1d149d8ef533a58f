/**
 * One HTTP request and its answer. The client and matterctl send all requests with this function, so both treat
 * gateways alike. It never follows a redirect, but returns it as the answer.
 */
import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { LONGEST_TIMER } from './call';

/** Maximum bytes of an answer. The answer to a query has hundreds of matters with their contents. */
const MAX_ANSWER = 256 * 1024 * 1024;

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly agent?: Agent | undefined;
  /** Milliseconds for the whole exchange. */
  readonly timeout: number;
  /** Maximum bytes of the answer. */
  readonly maxAnswer?: number;
}

/** The answer as received, before `verdict.ts` classifies it. */
export interface HttpAnswer {
  /** The address that answered. */
  readonly url: string;
  readonly status: number;
  readonly text: string;
  /** The Location header of a redirect. */
  readonly location?: string | undefined;
  /** The Retry-After header. */
  readonly retryAfter: string | undefined;
  /** The RateLimit-Policy header. */
  readonly ratePolicy?: string | undefined;
  readonly replayed: boolean;
}

class NoAnswerInTime extends Error {
  readonly code = 'NO_ANSWER_IN_TIME';
  override readonly message = 'no answer in time';
}

export class AnswerTooLarge extends Error {
  override readonly message = 'the answer is too large to be one of Matter Push';

  constructor(readonly status: number) {
    super();
  }
}

/**
 * Sends a request and reads the whole answer.
 *
 * @param cut aborted: the request is cancelled
 * @throws an error of the system or of Node if no complete answer arrives in time
 */
export function exchange(
  { method, url, headers = {}, body, agent, timeout, maxAnswer = MAX_ANSWER }: HttpRequest,
  cut?: AbortSignal,
): Promise<HttpAnswer> {
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      headers: { ...headers, ...(body && { 'Content-Length': body.length }) },
      ...(agent && { agent }),
      ...(cut && { signal: cut }),
    });
    // This timer limits the whole exchange. Node's own timeout starts again with every byte.
    const timer = setTimeout(
      () => sent.destroy(new NoAnswerInTime()),
      Math.min(timeout, LONGEST_TIMER),
    );
    sent
      .on('error', reject)
      .on('close', () => clearTimeout(timer))
      .on('response', (response) => readAnswer(url, response, maxAnswer).then(resolve, reject))
      .end(body);
  });
}

async function readAnswer(
  url: string,
  response: IncomingMessage,
  max: number,
): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > max) throw new AnswerTooLarge(response.statusCode ?? 0);
    chunks.push(chunk);
  }
  const { headers, statusCode = 0 } = response;
  return {
    url,
    status: statusCode,
    text: Buffer.concat(chunks).toString('utf8'),
    location: headers.location,
    retryAfter: headers['retry-after'],
    ratePolicy: headers['ratelimit-policy']?.toString(),
    replayed: headers['idempotency-replayed'] === 'true',
  };
}
