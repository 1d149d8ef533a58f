/** Requests to `push-logs/resend`. The service decides which pushes are sent, in which order, and why others are not. */
import { AskError, send } from '../read/ask.js';
import { endedWork, session, sessionSignal } from '../read/session.js';
import { FAILURES } from './words.js';

/** @typedef {import('../read/shapes').Envelope} Envelope */
/** @typedef {import('../read/shapes').FieldProblem} FieldProblem */
/** @typedef {string | number | boolean} Scalar */
/** @typedef {{ readonly field: string, readonly from?: Scalar, readonly value?: unknown, readonly remove?: true }} FieldValue either `value` or `remove`; `from`: only where the field has this value */
/**
 * @typedef {object} Result of one push
 * @property {string} resentFrom
 * @property {boolean} sent
 * @property {number} code
 * @property {string} message
 * @property {string} [reason]
 * @property {boolean} [retryable]
 * @property {string} [outcome]
 * @property {readonly FieldProblem[]} [errors]
 */
/** @typedef {{ readonly seconds: number, readonly reason: string }} Wait */
/** @typedef {{ readonly resent: number, readonly failed: number, readonly resolved: number }} Counts pushes */

/** @type {Counts} */
export const NONE = { resent: 0, failed: 0, resolved: 0 };

/** Pushes of one request: the limit of the service. */
const MAX_PUSHES = 100;
/** Attempts in a row without progress, each after the time that the service asks for. */
const MAX_TRIES = 5;
/** Attempts while other requests of the client use its rate. */
const MAX_RATED_TRIES = 45;
/** Seconds, if the service gives no time. */
const USUAL_WAIT = 2;
const LONGEST_WAIT = 60;
/** Retryable reasons that last until an operator acts. */
const NOT_WAITED_FOR = ['CLIENT_PAUSED'];

/**
 * The plan of a resend. Nothing is written.
 *
 * @param {readonly string[]} requestIds
 * @param {{ set: readonly FieldValue[], signal: AbortSignal, report: (done: number) => void }} how
 * @returns {Promise<ReadonlyMap<string, Result>>} by request id
 */
export async function planResend(requestIds, { set, signal, report }) {
  const results = /** @type {Map<string, Result>} */ (new Map());
  for (let left = requestIds; left.length > 0; ) {
    report(results.size);
    const first = await resendFirst(left, { set, signal, dryRun: true });
    for (const result of first.results) results.set(result.resentFrom, result);
    left = left.slice(first.count);
  }
  return results;
}

/**
 * Sends pushes again. A request whose answer is lost is repeated: all resends of a push have one effect. A stop waits for
 * the answer of the last request: the service finishes the pushes that it has received.
 *
 * @param {readonly string[]} requestIds pushes of one matter in their order
 * @param {{
 *   set: readonly FieldValue[], signal: AbortSignal,
 *   counts?: Counts, onResults: (results: readonly Result[], counts: Counts) => void,
 *   onWait: (wait: Wait | undefined) => void,
 * }} how `counts`: the results before a stop
 * @returns {Promise<{ left: readonly string[], isUnconfirmed: boolean, error?: unknown }>} the pushes without a final
 *   result, whether the service may have received some of them, and the cause
 */
export async function resendAll(
  requestIds,
  { set, signal: given, onResults, onWait, counts: before = NONE },
) {
  // A resend never continues in the session of another client.
  const over = sessionSignal();
  const signal = AbortSignal.any([given, over]);
  const how = { set, signal: over, stop: given };
  let counts = before;
  let left = requestIds;
  let tries = 0;
  let isUnconfirmed = false;
  while (left.length > 0 && !signal.aborted) {
    const step = await nextStep(left, how);
    counts = countsWith(counts, step.final);
    onResults(step.final, counts);
    left = step.left;
    isUnconfirmed = mayBeReceived(step.error);
    if (step.final.length > 0) tries = 0;
    if (!step.error || signal.aborted) continue;
    const wait = waitAfter(step.error, tries);
    tries += 1;
    if (wait === undefined || tries >= (isRated(step.error) ? MAX_RATED_TRIES : MAX_TRIES))
      return { left, isUnconfirmed, error: step.error };
    await pause(wait, step.error, { signal, onWait });
  }
  if (over.aborted) reportEnd(counts, left.length);
  return { left, isUnconfirmed };
}

/** Whether the failure was resolved before, so that the push was not sent. @param {Result} result */
export const isResolved = ({ sent, code, reason }) =>
  !sent && (code === 0 || reason === 'RESOLVED_SINCE');

/** @param {Counts} before @param {readonly Result[]} results @returns {Counts} */
function countsWith({ resent, failed, resolved }, results) {
  const others = results.filter((result) => !isResolved(result));
  const good = others.filter(({ code }) => code === 0).length;
  return {
    resent: resent + good,
    failed: failed + others.length - good,
    resolved: resolved + results.length - others.length,
  };
}

/** The sign-in page shows what the end of the session interrupted. @param {Counts} counts @param {number} left */
export function reportEnd({ resent, failed }, left) {
  if (!session.peek()) endedWork.value = { words: FAILURES.ended, counts: [resent, failed, left] };
}

/** @typedef {{ set: readonly FieldValue[], signal: AbortSignal, stop?: AbortSignal }} How `stop`: no further request */
/** @typedef {{ final: readonly Result[], left: readonly string[], error?: unknown }} Step */

/**
 * One request. Pushes that may succeed later stay in front of the others, so that each matter keeps its order.
 *
 * @param {readonly string[]} left @param {How} how @returns {Promise<Step>}
 */
async function nextStep(left, how) {
  try {
    const { count, results, retryAfter } = await resendFirst(left, how);
    const later = results.filter(isRetryable);
    const [first] = later;
    const again = later.map(({ resentFrom }) => resentFrom);
    return {
      final: results.filter((result) => !isRetryable(result)),
      left: [...again, ...left.slice(count)],
      ...(first && { error: errorOf(first, retryAfter) }),
    };
  } catch (error) {
    return { final: [], left, error };
  }
}

/**
 * Asks for as many of the first pushes as one request takes: the stored bodies of a request have a limit together.
 *
 * @param {readonly string[]} requestIds @param {How & { dryRun?: boolean }} how
 * @returns {Promise<{ count: number, results: readonly Result[], retryAfter?: number | undefined }>}
 * @throws {AskError} if the request is rejected as a whole
 */
async function resendFirst(requestIds, { set, signal, stop, dryRun = false }) {
  for (let count = Math.min(requestIds.length, MAX_PUSHES); ; count = Math.ceil(count / 2)) {
    const request = {
      requestIds: requestIds.slice(0, count),
      dryRun,
      ...(set.length > 0 && { set }),
    };
    const body = JSON.stringify(request);
    // The wait for a rate is shown, so `send` must not wait for it.
    const envelope = await send('push-logs/resend', { body, signal, isHasty: !dryRun });
    const { results } = /** @type {{ results?: readonly Result[] }} */ (envelope.data ?? {});
    if (results) return { count, results, retryAfter: envelope.retryAfter };
    if (envelope.code !== 413 || count === 1 || stop?.aborted) throw errorOf(envelope);
  }
}

/** @param {Result | Envelope} answer of a push, or of the whole request @param {number} [retryAfter] seconds */
function errorOf(answer, retryAfter) {
  const { message, reason = '' } = answer;
  const envelope = /** @type {Envelope} */ ({ retryAfter, ...answer });
  return new AskError({ message, reason, envelope });
}

/** @param {Pick<Result, 'code' | 'retryable'>} result */
const isRetryable = ({ code, retryable }) => code !== 0 && retryable === true;

/** Whether the service may still apply the pushes: their answer is lost, or a confirmation is missing. @param {unknown} error */
const mayBeReceived = (error) =>
  error instanceof AskError && (!error.envelope || error.envelope.code === 504);

/** @param {unknown} error */
const isRated = (error) => error instanceof AskError && error.reason === 'RATE_LIMITED';

/**
 * Seconds until the next attempt: as the service asks, otherwise longer each time.
 *
 * @param {unknown} error @param {number} tries before, in a row
 * @returns {number | undefined} undefined: waiting does not help
 */
function waitAfter(error, tries) {
  if (!(error instanceof AskError) || NOT_WAITED_FOR.includes(error.reason)) return undefined;
  const { envelope } = error;
  const passes = !envelope || [409, 429, 503, 504].includes(envelope.code);
  if (!passes) return undefined;
  return Math.min(envelope?.retryAfter ?? USUAL_WAIT * 2 ** tries, LONGEST_WAIT);
}

/** A browser delays timers of a hidden tab, so a clock decides when the wait is over. @param {number} seconds @param {unknown} error @param {{ signal: AbortSignal, onWait: (wait: Wait | undefined) => void }} how */
async function pause(seconds, error, { signal, onWait }) {
  const reason = error instanceof AskError ? error.reason : '';
  const end = performance.now() + seconds * 1_000;
  const leftNow = () => Math.ceil((end - performance.now()) / 1_000);
  for (let left = seconds; left > 0 && !signal.aborted; left = leftNow()) {
    onWait({ seconds: left, reason });
    await new Promise((passed) => setTimeout(passed, 1_000));
  }
  onWait(undefined);
}
