/** Sends failed matters again, batch after batch: a matter's pushes in their order, and no faster than the service takes them. */
import { AskError, send } from './ask.js';
import { chunksOf, lineOf } from './failure-lines.js';
import { sessionSignal } from './session.js';

/** @typedef {import('./shapes').Envelope} Envelope */
/** @typedef {import('./failure-lines.js').Push} Push */
/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {{ readonly code: number, readonly message: string, readonly reason?: string, readonly outcome?: string, readonly retryable?: boolean, readonly errors?: readonly { field: string, message: string }[] }} Result */
/** @typedef {{ readonly wait: number, readonly reason: string }} Wait seconds */

/** In a row, each after the time that the service asked for. */
const MOST_TRIES = 5;
/** Seconds, where nobody says how long. */
const USUAL_WAIT = 2;
const LONGEST_WAIT = 60;
/** Nothing that passes by itself. */
const NOT_WAITED_FOR = ['CLIENT_PAUSED'];

/**
 * @param {readonly PlannedMatter[]} matters
 * @param {{
 *   signal: AbortSignal,
 *   onResults: (results: readonly (readonly [name: string, result: Result])[]) => void,
 *   onWait: (wait: Wait | undefined) => void,
 * }} told
 * @returns {Promise<{ left: readonly PlannedMatter[], error?: unknown }>} what is not sent, and why
 */
export async function sendMatters(matters, { signal: given, onResults, onWait }) {
  // What one client failed with is never sent in the name of the next one.
  const signal = AbortSignal.any([given, sessionSignal()]);
  let left = matters;
  let tries = 0;
  while (left.length > 0) {
    const [chunk = []] = chunksOf(left);
    const { settled, again, wait, error } = await sendChunk(chunk, signal);
    onResults(settled);
    left = [...again, ...left.slice(chunk.length)];
    tries = settled.length > 0 ? 0 : tries + 1;
    if (signal.aborted) return { left };
    if (again.length === 0) continue;
    const isOver = tries >= MOST_TRIES || NOT_WAITED_FOR.includes(error?.reason ?? '');
    if (wait === undefined || isOver) return { left, error };
    await pause(wait, error?.reason ?? '', { signal, onWait });
  }
  return { left };
}

/** @typedef {{ settled: [string, Result][], again: PlannedMatter[], wait?: number, error?: AskError }} Sent */

/** @param {PlannedMatter[]} chunk @param {AbortSignal} signal @returns {Promise<Sent>} */
async function sendChunk(chunk, signal) {
  const lines = chunk.flatMap(({ pushes }) => pushes.map(lineOf));
  try {
    const envelope = await send('matters/batch', { body: lines.join('\n'), signal });
    const results = /** @type {any} */ (envelope.data)?.results;
    if (results) return sortedOut(chunk, results, envelope);
    const { code, message, reason = '', retryAfter } = envelope;
    const error = new AskError({ message, reason, envelope });
    const isLater = code === 503 || code === 429;
    return { settled: [], again: chunk, error, ...(isLater && { wait: retryAfter ?? USUAL_WAIT }) };
  } catch (error) {
    // Whether it arrived nobody knows: with the same keys it may be sent once more.
    if (!(error instanceof AskError)) return { settled: [], again: chunk };
    return { settled: [], again: chunk, error, wait: USUAL_WAIT };
  }
}

/**
 * Of a matter that the service had no room for, the pushes from the first such one on are sent once more.
 *
 * @param {PlannedMatter[]} chunk @param {Result[]} results @param {Envelope} envelope @returns {Sent}
 */
function sortedOut(chunk, results, { retryAfter }) {
  const sent = /** @type {Sent} */ ({ settled: [], again: [] });
  let at = 0;
  for (const matter of chunk) {
    const own = results.slice(at, at + matter.pushes.length);
    at += matter.pushes.length;
    const full = own.findIndex(({ code }) => code === 503);
    const bad = own.find(({ code }) => code !== 0 && code !== 503);
    const last = bad ?? own.at(-1);
    if (full < 0 || bad) {
      if (last) sent.settled.push([matter.name, last]);
      continue;
    }
    const { message = '', reason = '' } = own[full] ?? {};
    sent.again.push({ ...matter, pushes: matter.pushes.slice(full) });
    sent.wait = retryAfter ?? USUAL_WAIT;
    sent.error = new AskError({ message, reason });
  }
  return sent;
}

/** @param {number} seconds @param {string} reason @param {{ signal: AbortSignal, onWait: (wait: Wait | undefined) => void }} told */
async function pause(seconds, reason, { signal, onWait }) {
  for (let left = Math.min(seconds, LONGEST_WAIT); left > 0 && !signal.aborted; left -= 1) {
    onWait({ wait: left, reason });
    await new Promise((passed) => setTimeout(passed, 1_000));
  }
  onWait(undefined);
}
