/** Sends failed matters again, batch after batch: a matter's pushes in their order, and no faster than the service takes them. */
import { AskError, send } from './ask.js';
import { behind, firstBatch, isAboutLines, isThrough, lineOf } from './failure-lines.js';
import { FAILURES } from './failures-words.js';
import { batchLimits } from './self.js';
import { endedWork, session, sessionSignal } from './session.js';

/** @typedef {import('./shapes').Envelope} Envelope */
/** @typedef {import('./failure-planned.js').PlannedMatter} PlannedMatter */
/** @typedef {{ readonly code: number, readonly message: string, readonly reason?: string, readonly outcome?: string, readonly retryable?: boolean, readonly errors?: readonly { field: string, message: string }[] }} Result */
/** @typedef {{ readonly wait: number, readonly reason: string }} Wait seconds */
/** @typedef {(matters: readonly PlannedMatter[], signal: AbortSignal) => Promise<readonly PlannedMatter[]>} UpToDate */

/** In a row, each after the time that the service asked for. */
const MOST_TRIES = 5;
/** Where others of the client take their part of its rate: that is slow, and not away. */
const MOST_RATED = 45;
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
 *   upToDate: UpToDate,
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
  while (left.length > 0 && !signal.aborted) {
    // Sending may take long: somebody may have mended meanwhile what is still to be sent.
    const isDue = Date.now() - lookedAt > FRESH;
    const step = await (isDue ? look(left, upToDate, signal) : sendBatch(left, signal));
    onResults(step.settled);
    for (const [, { code }] of step.settled) counts[code === 0 ? 'written' : 'failed'] += 1;
    left = step.left;
    if (isDue && !step.error) lookedAt = Date.now();
    if (step.isForward) tries = 0;
    if (!step.error || signal.aborted) continue;
    const wait = waitAfter(step.error, tries);
    tries += 1;
    const most = isRated(step.error) ? MOST_RATED : MOST_TRIES;
    if (wait === undefined || tries >= most) return { left, error: step.error };
    await pause(wait, step.error, { signal, onWait });
  }
  if (over.aborted) tellEnd(counts, left);
  return { left };
}

/** Its screen is gone where the session is. @param {{ written: number, failed: number }} counts @param {readonly PlannedMatter[]} left */
export function tellEnd({ written, failed }, left) {
  if (session.peek()) return;
  const begun = left.filter(({ begun }) => begun).length;
  endedWork.value = { words: FAILURES.ended, counts: [written, failed, left.length, begun] };
}

/** @typedef {[name: string, result: Result][]} Settled */
/** @typedef {{ settled: Settled, left: readonly PlannedMatter[], isForward?: boolean, error?: unknown }} Step */

/** @param {readonly PlannedMatter[]} left @param {UpToDate} upToDate @param {AbortSignal} signal @returns {Promise<Step>} */
async function look(left, upToDate, signal) {
  try {
    const settled = /** @type {Settled} */ ([]);
    const still = [];
    for (const matter of await upToDate(left, signal)) {
      if (matter.result) settled.push([matter.name, matter.result]);
      else still.push(matter);
    }
    return { settled, left: still };
  } catch (error) {
    return { settled: [], left, error };
  }
}

/** @param {readonly PlannedMatter[]} left @param {AbortSignal} signal @returns {Promise<Step>} */
async function sendBatch(left, signal) {
  const parts = firstBatch(left, batchLimits());
  const others = left.slice(parts.length);
  const lines = parts.flatMap(({ pushes }) => pushes.map(lineOf));
  try {
    const envelope = await send('matters/batch', { body: lines.join('\n'), signal, isHasty: true });
    const { results } = /** @type {any} */ (envelope.data ?? {});
    const ofLines = results ?? (isAboutLines(envelope) && lines.map(() => envelope));
    if (!ofLines) throw errorOf(envelope);
    const { again, ...step } = sortedOut(parts, ofLines, envelope);
    return { ...step, left: [...again, ...others] };
  } catch (error) {
    // Whether it arrived nobody knows: with the same keys it may be sent once more.
    const begun = !isRefused(error) && { begun: true };
    const again = parts.map(({ matter }) => ({ ...matter, sent: true, ...begun }));
    return { settled: [], left: [...again, ...others], error };
  }
}

/** @param {Pick<Envelope, 'code' | 'message'> & Partial<Envelope>} envelope */
const errorOf = ({ code, message, reason = '', retryAfter }) =>
  new AskError({ message, reason, envelope: /** @type {Envelope} */ ({ code, retryAfter }) });

/** @param {unknown} error */
const isRated = (error) => error instanceof AskError && error.reason === 'RATE_LIMITED';

/** Whether nothing of the batch was taken. @param {unknown} error */
function isRefused(error) {
  const { code = 0 } = (error instanceof AskError && error.envelope) || {};
  return code === 503 || (code >= 400 && code < 500);
}

/** What may go through a little later, under the same key: nothing behind it was applied. @param {Pick<Result, 'code'>} result */
const isLater = ({ code }) => code === 503 || code === 504;

/**
 * Of a matter that the service had no room or no time for, the pushes from the first such one on are sent once more;
 * so are those that the batch did not take. What is rejected holds up nothing, as within a batch.
 *
 * @param {readonly import('./failure-lines.js').Part<PlannedMatter>[]} parts @param {Result[]} results
 * @param {Envelope} envelope
 */
function sortedOut(parts, results, { retryAfter }) {
  const settled = /** @type {Settled} */ ([]);
  const again = [];
  let isForward = false;
  let error;
  let at = 0;
  for (const { matter, pushes } of parts) {
    const own = results.slice(at, at + pushes.length);
    at += pushes.length;
    const later = own.find(isLater);
    const taken = later ? own.indexOf(later) : pushes.length;
    const failed = matter.failed ?? own.slice(0, taken).find(({ code }) => code !== 0);
    const isBegun = later?.code === 504 || own.slice(0, taken).some(({ code }) => code === 0);
    const how = { sent: true, ...(isBegun && { begun: true }), ...(failed && { failed }) };
    const left = { ...behind(matter, taken), ...how };
    const result = failed ?? own.at(-1);
    isForward ||= taken > 0;
    if (!isThrough(left)) again.push(left);
    else if (result) settled.push([matter.name, result]);
    if (later) error = errorOf({ ...later, retryAfter });
  }
  return { settled, again, isForward, error };
}

/**
 * Seconds that the service asked for, else longer each time.
 *
 * @param {unknown} error @param {number} tries before, in a row
 * @returns {number | undefined} undefined: it does not pass by itself
 */
function waitAfter(error, tries) {
  if (!(error instanceof AskError) || NOT_WAITED_FOR.includes(error.reason)) return undefined;
  const { envelope } = error;
  if (envelope && envelope.code !== 429 && !isLater(envelope)) return undefined;
  return Math.min(envelope?.retryAfter ?? USUAL_WAIT * 2 ** tries, LONGEST_WAIT);
}

/** A tab that nobody looks at wakes up seldom: a clock tells when it is over. @param {number} seconds @param {unknown} error @param {{ signal: AbortSignal, onWait: (wait: Wait | undefined) => void }} told */
async function pause(seconds, error, { signal, onWait }) {
  const reason = error instanceof AskError ? error.reason : '';
  const end = performance.now() + seconds * 1_000;
  const leftNow = () => Math.ceil((end - performance.now()) / 1_000);
  for (let wait = seconds; wait > 0 && !signal.aborted; wait = leftNow()) {
    onWait({ wait, reason });
    await new Promise((passed) => setTimeout(passed, 1_000));
  }
  onWait(undefined);
}
