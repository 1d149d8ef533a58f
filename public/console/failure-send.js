/** Sends failed matters again, batch after batch: a matter's pushes in their order, and no faster than the service takes them. */
import { AskError, send } from './ask.js';
import { behind, firstBatch, isAboutLines, lineOf } from './failure-lines.js';
import { FAILURES } from './failures-words.js';
import { batchLimits } from './self.js';
import { endedWork, session, sessionSignal } from './session.js';

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
/** Milliseconds for which what is to be sent counts as up to date. */
const FRESH = 30_000;
/** Nothing that passes by itself. */
const NOT_WAITED_FOR = ['CLIENT_PAUSED'];

/**
 * @param {readonly PlannedMatter[]} matters
 * @param {{
 *   signal: AbortSignal,
 *   upToDate: (matters: readonly PlannedMatter[], signal: AbortSignal) => Promise<readonly PlannedMatter[]>,
 *   onResults: (results: readonly (readonly [name: string, result: Result])[]) => void,
 *   onWait: (wait: Wait | undefined) => void,
 *   isFresh?: boolean,
 *   counts?: { readonly written: number, readonly failed: number },
 * }} how `upToDate`: what may still be sent of them; `isFresh`: they were so a moment ago; `counts`: matters that were
 *   sent before these
 * @returns {Promise<{ left: readonly PlannedMatter[], error?: unknown }>} what is not sent, and why
 */
export async function sendMatters(matters, { signal: given, upToDate, onResults, onWait, ...how }) {
  // What one client failed with is never sent in the name of the next one.
  const over = sessionSignal();
  const signal = AbortSignal.any([given, over]);
  const counts = { written: 0, failed: 0, ...how.counts };
  let left = matters;
  let tries = 0;
  let lookedAt = how.isFresh === false ? -Infinity : Date.now();
  while (left.length > 0) {
    if (Date.now() - lookedAt > FRESH) {
      // Sending may take long: somebody may have mended meanwhile what is still to be sent.
      try {
        left = await upToDate(left, signal);
      } catch (error) {
        if (over.aborted) tellEnd(counts, left);
        return signal.aborted ? { left } : { left, error };
      }
      lookedAt = Date.now();
      continue;
    }
    const parts = firstBatch(left, batchLimits());
    const { settled, again, isForward, wait, error } = await sendBatch(parts, signal);
    onResults(settled);
    for (const [, { code }] of settled) counts[code === 0 ? 'written' : 'failed'] += 1;
    left = [...again, ...left.slice(parts.length)];
    if (over.aborted) tellEnd(counts, left);
    if (signal.aborted) return { left };
    tries = isForward ? 0 : tries + 1;
    if (isForward && wait === undefined) continue;
    const reason = error instanceof AskError ? error.reason : '';
    const isOver = tries >= MOST_TRIES || NOT_WAITED_FOR.includes(reason);
    if (wait === undefined || isOver) return { left, error };
    await pause(wait, reason, { signal, onWait });
  }
  return { left };
}

/** Its screen is gone with the session. @param {{ written: number, failed: number }} counts @param {readonly PlannedMatter[]} left */
function tellEnd({ written, failed }, left) {
  if (session.peek()) return;
  const inPart = left.filter(({ written }) => written !== undefined).length;
  const counted = [written, failed, left.length, inPart];
  endedWork.value = { words: FAILURES.ended, counts: counted };
}

/** @typedef {readonly { readonly matter: PlannedMatter, readonly count: number }[]} Parts */
/** @typedef {{ settled: [string, Result][], again: PlannedMatter[], isForward: boolean, wait?: number, error?: unknown }} Sent */

/** @param {Parts} parts @param {AbortSignal} signal @returns {Promise<Sent>} */
async function sendBatch(parts, signal) {
  const lines = parts.flatMap(({ matter, count }) => matter.pushes.slice(0, count).map(lineOf));
  const again = parts.map(({ matter }) => ({ ...matter, sent: true }));
  const none = { settled: [], again, isForward: false };
  try {
    const envelope = await send('matters/batch', { body: lines.join('\n'), signal });
    const results = /** @type {any} */ (envelope.data)?.results;
    if (results) return sortedOut(parts, results, envelope);
    const { code, message, reason = '', retryAfter } = envelope;
    if (isAboutLines(envelope))
      return sortedOut(
        parts,
        lines.map(() => envelope),
        envelope,
      );
    const error = new AskError({ message, reason, envelope });
    const isWaitedFor = code === 503 || code === 429;
    return { ...none, error, ...(isWaitedFor && { wait: retryAfter ?? USUAL_WAIT }) };
  } catch (error) {
    // Whether it arrived nobody knows: with the same keys it may be sent once more.
    return { ...none, error, ...(error instanceof AskError && { wait: USUAL_WAIT }) };
  }
}

/** What may go through a little later, under the same key: nothing behind it was applied. @param {Result} result */
const isLater = ({ code }) => code === 503 || code === 504;

/**
 * Of a matter that the service had no room or no time for, the pushes from the first such one on are sent once more;
 * so are those that the batch did not take. What is rejected holds up nothing, as within a batch.
 *
 * @param {Parts} parts @param {Result[]} results @param {Envelope} envelope @returns {Sent}
 */
function sortedOut(parts, results, { retryAfter }) {
  const sent = /** @type {Sent} */ ({ settled: [], again: [], isForward: false });
  let at = 0;
  for (const { matter, count } of parts) {
    const own = results.slice(at, at + count);
    at += count;
    const full = own.findIndex(isLater);
    const taken = full < 0 ? count : full;
    const failed = own.slice(0, taken).find(({ code }) => code !== 0) ?? matter.failed;
    const left = behind(matter, taken);
    const result = failed ?? own.at(-1);
    if (!left) {
      if (result) sent.settled.push([matter.name, result]);
      sent.isForward = true;
      continue;
    }
    const written = matter.pushes[own.findLastIndex(({ code }) => code === 0)] ?? matter.written;
    sent.isForward ||= taken > 0;
    sent.again.push({
      ...left,
      sent: true,
      ...(written && { written }),
      ...(failed && { failed }),
    });
    if (full < 0) continue;
    const { message = '', reason = '' } = own[full] ?? {};
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
