/** The service as a business system meets it: through whatever stands between, by HTTP alone. */
import { z } from 'zod';
import { OPEN_PATH } from '../../../src/protocol/paths';
import { sign } from '../../../src/protocol/signature';

/** What came back, from the service or from something on the way. */
export interface Heard {
  /** HTTP status. */
  readonly status: number;
  /** Undefined: it is not the service that answered. */
  readonly envelope: HeardEnvelope | undefined;
  /** Why nobody answered; the status is 0 then. */
  readonly failure?: string;
  /**
   * By the service's clock, epoch milliseconds; undefined where it is not the service that answered.
   * Not the Date header: gateways write their own.
   */
  readonly clock: number | undefined;
}

const ENVELOPE = z.object({
  code: z.number(),
  requestId: z.string(),
  timestamp: z.string(),
  reason: z.string().optional(),
  retryable: z.boolean().optional(),
  data: z.unknown(),
});
export type HeardEnvelope = z.infer<typeof ENVELOPE>;

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
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
      body: Buffer.from(body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]),
    });
    const envelope = envelopeOf(await textOf(response));
    const clock = Date.parse(envelope?.timestamp ?? '');
    return { status: response.status, envelope, clock: Number.isNaN(clock) ? undefined : clock };
  } catch (error) {
    return { status: 0, envelope: undefined, clock: undefined, failure: failureText(error) };
  }
}

/** @returns the beginning of what is too long to be an answer of the service */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function envelopeOf(text: string): HeardEnvelope | undefined {
  try {
    return ENVELOPE.safeParse(JSON.parse(text)).data;
  } catch {
    // Whatever is no JSON is no answer of the service.
    return undefined;
  }
}

/** What the network says is the cause of what `fetch` says. */
function failureText(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string }; message?: string };
  return cause?.code ?? message ?? String(error);
}
