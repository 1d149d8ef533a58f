/** The result of a request. */
import { batchResults } from './batch-results.js';
import { diagnosisNode } from './diagnosis.js';
import { element } from './dom.js';
import { DIAGNOSED } from './findings.js';
import { isVerification } from './lines.js';
import { say } from './speech.js';
import { pairOf } from './text.js';
import { pretty, verbatim } from './verbatim.js';
import { clockHint, HINTS, WORDS } from './words.js';

/** @typedef {import('./shapes').Api} Api */
/** @typedef {import('./shapes').SignedCall} SignedCall */
/** @typedef {import('./shapes').Words} Words */
/** @typedef {{ code?: number, reason?: string, requestId?: string, data?: unknown }} Envelope */
/** @typedef {{ status: number, headers: Headers, text: string }} Answer */

/** The clock difference, in seconds, from which the page shows a hint. */
const CLOCK_SLACK = 60;
/** The code of a batch with failed lines. */
const PARTLY = 207;
const SHOWN = ['Idempotency-Replayed', 'Retry-After', 'RateLimit', 'RateLimit-Policy'];

/**
 * @param {Api} api
 * @param {Answer} answer
 * @param {number} now epoch milliseconds
 * @param {import('./diagnosis.js').Ask} ask for the cause of a rejected signature
 */
export function answerNode(api, { status, headers, text }, now, ask) {
  const envelope = lastEnvelope(text);
  const isGood = envelope?.code === 0;
  const shown = SHOWN.filter((name) => headers.has(name)).map(
    (name) => `${name}: ${headers.get(name)}`,
  );
  const hints = isGood || !envelope ? [] : hintsOf(api, envelope.reason ?? '', headers, now);
  const reason = isGood ? '' : (envelope?.reason ?? '');
  return element(
    'div',
    { class: `answer ${toneOf(envelope?.code)}` },
    element(
      'p',
      { class: 'verdict' },
      say(verdictOf(envelope)),
      element('code', {}, `HTTP ${status} ${reason}`.trim()),
    ),
    ...(headers.has('Idempotency-Replayed') ? [element('p', {}, say(WORDS.replayed))] : []),
    ...(shown.length > 0 ? [verbatim(shown.join('\n'))] : []),
    ...batchResults(envelope?.data),
    pretty(parsed(text) ?? text),
    ...(hints.length > 0 ? [hintList(hints)] : []),
    ...(DIAGNOSED.includes(reason) ? [diagnosisNode(envelope?.requestId ?? '', ask)] : []),
  );
}

/** @param {number | undefined} code */
function toneOf(code) {
  if (code === PARTLY) return 'partly';
  return code === 0 ? 'good' : 'bad';
}

/** @param {Envelope | undefined} envelope @returns {Words} */
function verdictOf(envelope) {
  const isDryRun = isVerification(envelope?.data);
  if (envelope?.code === PARTLY) return isDryRun ? WORDS.wouldFailPartly : WORDS.partly;
  if (envelope?.code !== 0) return WORDS.rejected;
  return isDryRun ? WORDS.wouldPass : WORDS.success;
}

/** @param {readonly Words[]} hints */
const hintList = (hints) =>
  element(
    'div',
    { class: 'hints' },
    element('h4', {}, say(WORDS.whatToLookAt)),
    element('ul', {}, ...hints.map((words) => element('li', {}, say(words)))),
  );

/**
 * @param {Api} api
 * @param {string} reason
 * @param {Headers} headers
 * @param {number} now
 * @returns {Words[]}
 */
function hintsOf(api, reason, headers, now) {
  const meaning = api.components.examples[reason]?.description;
  /** @type {Readonly<Record<string, readonly Words[]>>} */
  const byReason = HINTS;
  const ahead = Math.round((now - Date.parse(headers.get('Date') ?? '')) / 1000);
  const isOff = reason === 'TIMESTAMP_OUT_OF_WINDOW' && Math.abs(ahead) > CLOCK_SLACK;
  return [
    ...(meaning ? [pairOf(meaning)] : []),
    ...(isOff ? [clockHint(ahead)] : []),
    ...(byReason[reason] ?? []),
  ];
}

/**
 * The answer is one document, or lines; the last line is the envelope.
 *
 * @param {string} text
 * @returns {Envelope | undefined}
 */
function lastEnvelope(text) {
  const told = parsed(text) ?? parsed(text.trimEnd().split('\n').at(-1) ?? '');
  return typeof told === 'object' && told !== null ? told : undefined;
}

/** @param {string} text @returns {unknown} undefined where it is not JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
