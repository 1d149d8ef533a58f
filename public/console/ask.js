/** Signed requests: asked, waited for where the service says so, and told in words where they fail. */
import { signal } from './lib/signals.js';
import { end, session } from './session.js';
import { signatureOf } from './sign.js';
import { isEnglish } from './speech.js';

/** @typedef {import('./shapes').Envelope} Envelope */

/** Where the service is: the page lies beside its operations, also below a path of a proxy. */
const base = () => new URL('.', location.href);
/** Milliseconds for one answer: the service's own limits are below it. */
const TIMEOUT = 90_000;
const MAX_WAITS = 8;
const LONGEST_WAIT = 10_000;

/** Reasons after which the key is of no use any more. */
const ENDS = ['SIGNATURE_MISMATCH', 'NO_USABLE_SECRET', 'CLIENT_DISABLED', 'NO_SYSTEM_CODE'];

/** How far this computer's clock is behind the service's, milliseconds; 0 as long as it did not matter. */
export const clockOff = signal(0);

/** What the service, or the way to it, said instead of an answer. */
export class AskError extends Error {
  /** @param {{ message: string, reason?: string, envelope?: Envelope }} told `reason` NO_ANSWER: nobody said anything */
  constructor({ message, reason = 'NO_ANSWER', envelope }) {
    super(message);
    this.name = 'AskError';
    this.reason = reason;
    this.envelope = envelope;
  }
}

/**
 * Asks one of the signed queries.
 *
 * @param {string} name below /api/open
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} `data`
 * @throws {AskError} for everything but success; DOMException where it is aborted
 */
export async function ask(name, body, signal) {
  const envelope = await send(name, { body: JSON.stringify(body), signal });
  if (envelope.code === 0) return envelope.data;
  throw new AskError({ message: envelope.message, reason: envelope.reason, envelope });
}

/**
 * Sends one signed request. A rate is waited for; a clock that is off is allowed for, once.
 *
 * @param {string} name below /api/open
 * @param {{ body: string, headers?: Record<string, string>, signal?: AbortSignal | undefined, isProbe?: boolean }} request
 *   `isProbe`: whatever is said to it, the session goes on
 * @returns {Promise<Envelope>} also one that says no
 * @throws {AskError} NO_ANSWER
 */
export const send = async (name, request) => (await exchange(name, request)).envelope;

/**
 * Asks the query that takes lines and answers with lines.
 *
 * @param {string} name below /api/open
 * @param {string} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<readonly string[]>} JSON, a line each
 * @throws {AskError} for everything but success
 */
export async function askLines(name, body, signal) {
  const { envelope, lines } = await exchange(name, { body, signal });
  if (envelope.code === 0) return lines;
  throw new AskError({ message: envelope.message, reason: envelope.reason, envelope });
}

/** @param {string} name @param {{ body: string, headers?: Record<string, string>, signal?: AbortSignal | undefined, isProbe?: boolean }} request */
async function exchange(name, request) {
  for (let waits = 0; ; waits += 1) {
    const { envelope, headers, lines } = await once(name, request);
    const { reason } = envelope;
    if (reason === 'TIMESTAMP_OUT_OF_WINDOW' && waits === 0 && allowForClock(headers)) continue;
    if (reason === 'RATE_LIMITED' && waits < MAX_WAITS) {
      const seconds = Number(headers.get('Retry-After')) || 1;
      await pause(Math.min(seconds * 1_000, LONGEST_WAIT), request.signal);
      continue;
    }
    if (reason && ENDS.includes(reason) && !request.isProbe) end(reason);
    const retryAfter = Number(headers.get('Retry-After'));
    return { envelope: retryAfter > 0 ? { ...envelope, retryAfter } : envelope, lines };
  }
}

/** @param {string} name @param {{ body: string, headers?: Record<string, string>, signal?: AbortSignal | undefined }} request */
async function once(name, { body, headers = {}, signal }) {
  const { clientId = '', key = '' } = session.value ?? {};
  const timestamp = String(Math.floor((Date.now() + clockOff.peek()) / 1000));
  const limit = AbortSignal.timeout(TIMEOUT);
  const response = await fetch(new URL(`api/open/${name}`, base()), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Accept-Language': isEnglish() ? 'en' : 'zh',
      'X-Client-Id': clientId,
      'X-Timestamp': timestamp,
      'X-Signature': signatureOf({ clientId, key, timestamp, body }),
      ...headers,
    },
    body: new TextEncoder().encode(body),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch((error) => {
    if (signal?.aborted) throw error;
    throw new AskError({ message: String(error.message ?? error) });
  });
  return { headers: response.headers, ...(await readAnswer(response)) };
}

/** An answer of lines has it as its last one. @param {Response} response @returns {Promise<{ envelope: Envelope, lines: readonly string[] }>} */
async function readAnswer(response) {
  try {
    const lines = (await response.text()).trimEnd().split('\n');
    const envelope = JSON.parse(lines.pop() ?? '');
    if (typeof envelope?.code === 'number') return { envelope, lines };
  } catch {
    // Below: a proxy's page, or an answer that broke off.
  }
  throw new AskError({ message: `HTTP ${response.status}` });
}

/** @param {Headers} headers @returns {boolean} whether it is off by more than a moment */
function allowForClock(headers) {
  const off = Date.parse(headers.get('Date') ?? '') - Date.now();
  if (!(Math.abs(off) > 60_000)) return false;
  clockOff.value = off;
  return true;
}

/** @param {number} ms @param {AbortSignal | undefined} signal */
const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

/** Whether the service takes requests. @returns {Promise<boolean | undefined>} undefined: it does not answer */
export async function isReady() {
  try {
    return (await fetch(new URL('readyz', base()), { cache: 'no-store' })).ok;
  } catch {
    return undefined;
  }
}
