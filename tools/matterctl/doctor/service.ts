/** Sends requests to the service over HTTP, as a source system does, through the same gateways. */
import { OPEN_PATH } from '../../../src/protocol/paths';
import { sign } from '../../../src/protocol/signature';
import { AnswerTooLarge, exchange } from '../../client/exchange';
import { envelopeOf } from '../../client/verdict';

/** An answer, from the service or from something before it, or a failure. */
export interface ServiceAnswer {
  /** HTTP status. */
  readonly status: number;
  /** Undefined if the answer is not from the service. */
  readonly envelope: ReturnType<typeof envelopeOf>;
  /** Target of a redirect. Redirects are not followed. */
  readonly location?: string | undefined;
  /** Why there was no answer; the status is then 0. */
  readonly failure?: string;
  /**
   * Time of the answer by the clock of the service, epoch milliseconds; undefined if the answer is not from the
   * service. It is not the Date header, because gateways replace this header.
   */
  readonly clock: number | undefined;
}

export interface Access {
  /** URL of the service, without a slash at its end. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Milliseconds to add to the clock of this machine for timestamps. */
  readonly ahead: number;
  /** After its abort, requests do not wait for their answers. */
  readonly signal: AbortSignal;
}

/** Milliseconds for an answer: more than the default PUSH_TIMEOUT. */
const TIMEOUT = 20_000;
/** Maximum bytes of an answer. Those to the requests of this command are far shorter. */
const MAX_ANSWER = 1024 * 1024;

/** Sends a request without the headers of a signature. */
export const callUnsigned = ({ url, signal }: Pick<Access, 'url' | 'signal'>, path: string) =>
  call(`${url}${OPEN_PATH}/${path}`, {}, '{}', signal);

/** Sends a signed request. @param path path after `/api/open/` */
export function callSigned(
  { url, clientId, secret, ahead, signal }: Access,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ServiceAnswer> {
  const timestamp = String(Math.floor((Date.now() + ahead) / 1000));
  const signed = {
    'X-Client-Id': clientId,
    'X-Timestamp': timestamp,
    'X-Signature': sign(secret, clientId, timestamp, body),
  };
  return call(`${url}${OPEN_PATH}/${path}`, { ...signed, ...headers }, body, signal);
}

async function call(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<ServiceAnswer> {
  try {
    const answer = await exchange(
      {
        ...{
          method: 'POST',
          url,
          body: Buffer.from(body),
          timeout: TIMEOUT,
          maxAnswer: MAX_ANSWER,
        },
        headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
      },
      signal,
    );
    const envelope = envelopeOf(answer);
    const { status, location } = answer;
    const clock = envelope && Date.parse(envelope.timestamp);
    return { status, envelope, location, clock: Number.isNaN(clock) ? undefined : clock };
  } catch (error) {
    if (error instanceof AnswerTooLarge) {
      return { status: error.status, envelope: undefined, clock: undefined };
    }
    return { status: 0, envelope: undefined, clock: undefined, failure: failureText(error) };
  }
}

function failureText(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? String(error);
}
