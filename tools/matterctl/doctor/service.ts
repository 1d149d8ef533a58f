/** The service as a business system meets it: through whatever stands between, by HTTP alone. */
import { OPEN_PATH } from '../../../src/protocol/paths';
import { sign } from '../../../src/protocol/signature';
import { AnswerTooLarge, exchange } from '../../client/exchange';
import { envelopeOf } from '../../client/verdict';

/** What came back, from the service or from something on the way. */
export interface Heard {
  /** HTTP status. */
  readonly status: number;
  /** Undefined: it is not the service that answered. */
  readonly envelope: ReturnType<typeof envelopeOf>;
  /** Where a redirect leads. No redirect is followed. */
  readonly location?: string | undefined;
  /** Why nobody answered; the status is 0 then. */
  readonly failure?: string;
  /**
   * By the service's clock, epoch milliseconds; undefined where it is not the service that answered.
   * Not the Date header: gateways write their own.
   */
  readonly clock: number | undefined;
}

export interface Access {
  /** Without a slash at its end. */
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Milliseconds that the caller's clock is to be put forward. */
  readonly ahead: number;
  /** Aborted: no answer is waited for any more. */
  readonly signal: AbortSignal;
}

/** Milliseconds for an answer: a push may wait for 10 s. */
const TIMEOUT = 20_000;
/** Bytes; what the doctor asks for is far shorter. */
const MAX_ANSWER = 1024 * 1024;

/** A request without any signature. */
export const callUnsigned = ({ url, signal }: Pick<Access, 'url' | 'signal'>, path: string) =>
  call(`${url}${OPEN_PATH}/${path}`, {}, '{}', signal);

/** @param path below the open path */
export function callSigned(
  { url, clientId, secret, ahead, signal }: Access,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Heard> {
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
): Promise<Heard> {
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
