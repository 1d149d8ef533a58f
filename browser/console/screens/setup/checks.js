/**
 * The checks of `matterctl doctor` that a browser can run: they write nothing, and a read-only key is enough. Their
 * dependencies are parameters.
 */
import { SETUP_WORDS } from './words.js';

/** @typedef {import('../../read/setup-shapes').Check} Check */
/** @typedef {import('../../read/setup-shapes').OwnSelf} OwnSelf */
/** @typedef {import('../../read/shapes').Envelope} Envelope */
/**
 * @typedef {object} Means
 * @property {() => Promise<boolean | undefined>} isReady undefined: the service does not answer
 * @property {(name: string, body: string) => Promise<Envelope>} send signed; a rejection of it ends no session
 * @property {() => number} now epoch milliseconds
 * @property {(ms: number) => string} spanText
 * @property {(words: import('../../kit/speech.js').Words) => string} say
 * @property {(at: string) => string} timeText
 * @property {boolean} isEncrypted
 */

/** In their order. */
export const CHECKS = /** @type {const} */ ([
  ...['ready', 'tls', 'signature', 'clock', 'body', 'dryRun', 'pushes'],
]);

const SAID = SETUP_WORDS.said;
/** Milliseconds that are no matter. */
const CLOCK_GOOD = 10_000;

/** Bodies that a gateway must forward unchanged, as in matterctl doctor. */
const PROBES = /** @type {const} */ ([
  ['plain', '{"externalIds":["doctor"]}'],
  ['space', '{ "externalIds" : [ "doctor" ],\r\n\t"note": "" }\n'],
  ['letters', '{"externalIds":["doctor"],"note":"审批 é 🚀"}'],
  ['escapes', '{"externalIds":["doctor"],"note":"\\u5ba1\\/ <&> \' + ="}'],
  ['numbers', '{"externalIds":["doctor"],"note":[1.0,1e3,12345678901234567890]}'],
  ['order', '{"b":1,"externalIds":["doctor"],"a":null,"b":2}'],
  ['size', `{"externalIds":["doctor"],"note":"${'x'.repeat(200 * 1024)}"}`],
]);

/** It names no user and writes nothing. */
const DRY_RUN = JSON.stringify({
  operation: 'upsert',
  push: { matterType: 'NOTICE', externalId: 'console-set-up', title: 'console' },
});

/** @param {Check['name']} name @param {Check['status']} status @param {Check['words']} words @param {...(string | number)} values @returns {Check} */
const told = (name, status, words, ...values) => ({ name, status, words, values });

/**
 * Each check once, in its order; what cannot be looked at because of one that failed is skipped.
 *
 * @param {Means} means
 * @returns {AsyncGenerator<Check, void>}
 */
export async function* runChecks(means) {
  const done = new Set();
  for await (const check of untilFailed(means)) {
    done.add(check.name);
    yield check;
  }
  for (const name of CHECKS) if (!done.has(name)) yield told(name, 'skipped', SAID.skipped);
}

/** @param {Means} means @returns {AsyncGenerator<Check, void>} */
async function* untilFailed(means) {
  const { isReady, send, now, spanText, isEncrypted } = means;
  const asked = now();
  const ready = await isReady();
  if (ready === undefined) {
    yield told('ready', 'failed', SAID.away);
    return;
  }
  const took = spanText(now() - asked);
  yield ready ? told('ready', 'ok', SAID.ready, took) : told('ready', 'failed', SAID.notReady);
  yield isEncrypted ? told('tls', 'ok', SAID.encrypted) : told('tls', 'note', SAID.plain);

  const sentAt = now();
  const envelope = await send('clients/me', '{}');
  const here = (sentAt + now()) / 2;
  if (envelope.code !== 0) {
    yield rejected('signature', envelope);
    return;
  }
  const me = /** @type {OwnSelf} */ (envelope.data);
  yield told('signature', 'ok', SAID.signed, me.clientId);
  yield clockOf(means, me, Date.parse(me.serviceTime) - here);
  yield await bodyOf(means);
  const dry = await send('verify', DRY_RUN);
  yield dry.code === 0 ? told('dryRun', 'ok', SAID.dryRun) : rejected('dryRun', dry);
  yield pushesOf(means, me);
}

/** @param {Check['name']} name @param {Envelope} envelope */
const rejected = (name, { code, reason = String(code), message }) =>
  told(name, 'failed', SAID.rejected, reason, message);

/** @param {Means} means @param {OwnSelf} me @param {number} off milliseconds that the service is ahead */
function clockOf({ spanText }, { limits }, off) {
  const by = Math.abs(off);
  if (by <= CLOCK_GOOD) return told('clock', 'ok', SAID.clockGood, spanText(Math.max(by, 1_000)));
  const allowed = limits.timestampWindow * 1_000;
  const status = by > allowed ? 'failed' : 'note';
  return told('clock', status, SAID.clockOff, spanText(by), spanText(allowed));
}

/** Does it arrive as it was sent? @param {Means} means */
async function bodyOf({ send, say }) {
  const altered = [];
  for (const [name, body] of PROBES) {
    const envelope = await send('matters/get', body);
    if (envelope.code === 0) continue;
    if (envelope.reason !== 'SIGNATURE_MISMATCH') return rejected('body', envelope);
    altered.push(say(SETUP_WORDS.probes[name]));
  }
  return altered.length === 0
    ? told('body', 'ok', SAID.bodyGood, PROBES.length)
    : told('body', 'failed', SAID.bodyAltered, altered.join(', '));
}

/** @param {Means} means @param {OwnSelf} me */
function pushesOf({ timeText, say }, { paused, signedWith }) {
  if (paused) {
    const { since, reason } = paused;
    return told('pushes', 'failed', SAID.paused, timeText(since), reason ?? say(SAID.noReason));
  }
  const mayPush = signedWith.scopes.includes('push');
  return told('pushes', 'ok', mayPush ? SAID.pushes : SAID.asksOnly);
}
