/** Sends signed requests. It waits if the service asks for a pause, and reports failures as AskError. */
import { signal } from '@preact/signals';
import { isEnglish } from '../kit/speech.js';
import { end, session, sessionSignal } from './session.js';
import { signatureOf } from './sign.js';

/** @typedef {import('./shapes').Envelope} Envelope */
/** @typedef {import('./session.js').Session} Session */
/**
 * @typedef {object} Request
 * @property {string} body
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal | undefined} [signal]
 * @property {boolean} [isProbe] the session continues after any answer
 * @property {boolean} [isHasty] the caller waits for the rate limit itself
 */

/** The base address of the service: the page is next to the API, also below a path of a proxy. */
const base = () => new URL('.', location.href);
/** Milliseconds for one answer; all timeouts of the service are shorter. */
const TIMEOUT = 90_000;
const MAX_WAITS = 8;
const LONGEST_WAIT = 10_000;

/** After these reasons the same request succeeds later; the service did nothing. */
const PASSING = ['RATE_LIMITED', 'TOO_MANY_QUERIES'];
/** After these reasons the key no longer works. */
const ENDS = ['SIGNATURE_MISMATCH', 'NO_USABLE_SECRET', 'CLIENT_DISABLED', 'NO_SYSTEM_CODE'];
/** The shortest request; it checks whether the key is still valid. */
const SHORTEST = '{}';

/** Milliseconds by which the clock of this computer is behind that of the service; 0 until the service rejected a time. */
export const clockOff = signal(0);

/** The service rejected a request, or gave no answer. */
export class AskError extends Error {
  /** @param {{ message: string, reason?: string, envelope?: Envelope }} told `reason` NO_ANSWER: no answer of the service arrived */
  constructor({ message, reason = 'NO_ANSWER', envelope }) {
    super(message);
    this.name = 'AskError';
    this.reason = reason;
    this.envelope = envelope;
  }
}

/**
 * Sends a signed query.
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
 * Sends a signed request. It waits for the rate limit and for a free query slot, and corrects a wrong clock once.
 *
 * @param {string} name below /api/open
 * @param {Request} request
 * @returns {Promise<Envelope>} also of a rejected request
 * @throws {AskError} NO_ANSWER; DOMException if it is aborted, or if its session ended
 */
export const send = async (name, request) => (await exchange(name, request)).envelope;

/**
 * Sends the query that takes lines and answers with lines.
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

/**
 * All attempts belong to one session: the key of the next client never signs a request of this one.
 *
 * @param {string} name
 * @param {Request} request
 */
async function exchange(name, { signal: given, ...request }) {
  const who = session.peek();
  const over = sessionSignal();
  const signal = given ? AbortSignal.any([given, over]) : over;
  signal.throwIfAborted();
  if (!who) throw new DOMException('There is no session', 'AbortError');
  for (let waits = 0; ; waits += 1) {
    const { envelope, headers, lines } = await once(name, { ...request, signal }, who);
    const { reason = '' } = envelope;
    if (reason === 'TIMESTAMP_OUT_OF_WINDOW' && waits === 0 && allowForClock(headers)) continue;
    const retryAfter = Number(headers.get('Retry-After'));
    if (PASSING.includes(reason) && !request.isHasty && waits < MAX_WAITS) {
      await pause(waitOf(reason, retryAfter, waits), signal);
      continue;
    }
    const isOver = ENDS.includes(reason) && !request.isProbe;
    if (isOver && !(await isAccepted(reason, request.body, who, signal))) {
      signal.throwIfAborted();
      end(reason);
    }
    return { envelope: retryAfter > 0 ? { ...envelope, retryAfter } : envelope, lines };
  }
}

/**
 * Milliseconds to wait. The service states the time for a rate limit. Several tabs may wait for a query slot, so their
 * times are random and grow.
 *
 * @param {string} reason @param {number} retryAfter seconds @param {number} waits
 */
function waitOf(reason, retryAfter, waits) {
  if (reason === 'RATE_LIMITED') return Math.min((retryAfter || 1) * 1_000, LONGEST_WAIT);
  return Math.min(500 * 2 ** waits, LONGEST_WAIT) * (0.5 + Math.random());
}

/**
 * Whether the key is valid after all: if a proxy changes requests, the signature of a valid key fails too.
 *
 * @param {string} reason @param {string} body of what was refused @param {Session} who @param {AbortSignal} signal
 */
async function isAccepted(reason, body, who, signal) {
  if (reason !== 'SIGNATURE_MISMATCH' || body === SHORTEST) return false;
  try {
    const { envelope } = await once('clients/me', { body: SHORTEST, signal }, who);
    return envelope.reason !== reason;
  } catch (error) {
    // Without an answer the key counts as valid.
    return error instanceof AskError;
  }
}

/** @param {string} name @param {Request} request @param {Session} who */
async function once(name, { body, headers = {}, signal }, { clientId, key }) {
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
  const answer = await readAnswer(response);
  signal?.throwIfAborted();
  return { headers: response.headers, ...answer };
}

/** The envelope is the last line of an answer. @param {Response} response @returns {Promise<{ envelope: Envelope, lines: readonly string[] }>} */
async function readAnswer(response) {
  try {
    const lines = (await response.text()).trimEnd().split('\n');
    const envelope = JSON.parse(lines.pop() ?? '');
    if (typeof envelope?.code === 'number') return { envelope, lines };
  } catch {
    // The page of a proxy, or an incomplete answer: the error follows below.
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

/** @param {number} ms @param {AbortSignal} signal */
const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve(undefined);
    }, ms);
    signal.addEventListener('abort', stop);
  });

/** Whether the service takes requests. @returns {Promise<boolean | undefined>} undefined: it does not answer */
export async function isReady() {
  try {
    return (await fetch(new URL('readyz', base()), { cache: 'no-store' })).ok;
  } catch {
    return undefined;
  }
}
