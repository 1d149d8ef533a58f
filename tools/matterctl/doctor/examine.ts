/** Runs the checks of `matterctl doctor` one after another, with requests like those of a source system. */
import { TIMESTAMP_WINDOW } from '../../../src/protocol/headers';
import { CHECKS, type Check, checkOf, failed, passed, skipped } from './check';
import { roundTrip } from './round-trip';
import { type Access, callSigned, callUnsigned, type ServiceAnswer } from './service';

/** The client that is examined, and the signals that end the examination early. */
export interface Examined extends Pick<Access, 'url' | 'clientId' | 'secret'> {
  /** After its abort, no further check starts. A matter that the round trip has pushed is still deleted. */
  readonly stop: AbortSignal;
  /** After its abort, the examination does not wait for this deletion either. */
  readonly cut: AbortSignal;
}

/** A query, which changes nothing. */
const QUESTION = 'matters/get';
const BODY = '{"externalIds":["matterctl-doctor"]}';
const CLOCK_FIX = 'Set the clock of this machine by NTP; see that no gateway changes X-Timestamp.';

/** Yields every check of CHECKS once, in this order; fewer if it is stopped. */
export async function* examine(examined: Examined): AsyncGenerator<Check> {
  let done = 0;
  for await (const check of examineUntilFailed(examined)) {
    // After a stop, an aborted query gives no valid result.
    if (examined.stop.aborted && check.check !== 'round trip') return;
    // Checks before this one that had no request of their own.
    const at = CHECKS.indexOf(check.check);
    for (const name of CHECKS.slice(done, at)) yield skipped(name);
    done = at + 1;
    yield check;
  }
  if (examined.stop.aborted) return;
  for (const name of CHECKS.slice(done)) yield skipped(name);
}

async function* examineUntilFailed(examined: Examined): AsyncGenerator<Check> {
  const access = { ...examined, signal: examined.stop, ahead: 0 };
  const sentAt = Date.now();
  const first = await callUnsigned(access, QUESTION);
  const isService = first.envelope?.reason === 'HMAC_HEADERS_MISSING';
  yield isService ? passed('reachable', `${access.url} answers`) : checkOf(first, 'reachable');
  if (!isService) return;

  const ahead = aheadOf(first, sentAt);
  const { envelope } = await callSigned(access, QUESTION, BODY);
  const isRejected = envelope?.reason === 'TIMESTAMP_OUT_OF_WINDOW';
  const clock = clockCheck(ahead, isRejected);
  yield clock;
  // If the clock of this machine is wrong, the other checks use a corrected time.
  const setRight = { ...access, ahead: isRejected ? ahead : 0 };
  yield* examineSigned(setRight, examined, clock.status === 'failed');
}

/** @param isClockOff whether the failed check of the clock was already yielded */
async function* examineSigned(
  access: Access,
  { stop, cut }: Examined,
  isClockOff: boolean,
): AsyncGenerator<Check> {
  const answer = await callSigned(access, QUESTION, BODY);
  const isSigned = answer.envelope?.code === 0 || (await isBodyAltered(access, answer));
  const verdict = isSigned ? undefined : checkOf(answer, answer.envelope ? 'secret' : 'headers');
  if (verdict?.check === 'clock') {
    if (!isClockOff) yield { ...verdict, check: 'headers' };
    return;
  }
  if (verdict?.check !== 'headers') {
    yield passed('headers', 'X-Client-Id, X-Timestamp and X-Signature arrive');
  }
  if (verdict) {
    yield verdict;
    return;
  }
  yield passed('secret', 'its signature is right');
  yield passed('client', `${access.clientId} is known, enabled and has a system code`);
  yield passed('service', 'its database is prepared, its queue is ready');
  const body = await alteredBody(access, QUESTION);
  yield body;
  if (body.status !== 'ok' || stop.aborted) return;
  yield await roundTrip({ ...access, signal: cut }, stop);
}

/**
 * Whether something on the way changes the body. An empty body cannot be changed, so its signature depends on the
 * secret only.
 */
async function isBodyAltered(access: Access, { envelope }: ServiceAnswer): Promise<boolean> {
  if (envelope?.reason !== 'SIGNATURE_MISMATCH') return false;
  const empty = await callSigned(access, QUESTION, '');
  return empty.envelope?.reason === 'INVALID_JSON';
}

/** Milliseconds by which the clock of the service is ahead of the clock of this machine. */
function aheadOf({ clock }: ServiceAnswer, sentAt: number): number {
  const here = (sentAt + Date.now()) / 2;
  return clock === undefined ? 0 : clock - here;
}

/** @param isRejected whether the service rejects a timestamp of this machine */
function clockCheck(ahead: number, isRejected: boolean): Check {
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const isOff = seconds > TIMESTAMP_WINDOW;
  if (!isOff && !isRejected) return passed('clock', `within ${Math.max(1, seconds)} s`);
  const side = ahead > 0 ? 'behind' : 'ahead of';
  const detail = isOff
    ? `this machine is ${seconds} s ${side} the service; ${TIMESTAMP_WINDOW} are allowed`
    : 'the timestamp is rejected although the clocks are together: it arrives changed';
  return failed('clock', detail, CLOCK_FIX);
}

/**
 * Bodies that a gateway changes if it parses and rewrites JSON. A gateway that passes bytes on does not change them.
 */
const PROBES: readonly (readonly [what: string, body: string])[] = [
  ['nothing special', '{"externalIds":["doctor"]}'],
  ['white space', '{ "externalIds" : [ "doctor" ],\r\n\t"note": "" }\n'],
  ['letters', '{"externalIds":["doctor"],"note":"审批 é 🚀"}'],
  ['escapes', '{"externalIds":["doctor"],"note":"\\u5ba1\\/ <&> \' + ="}'],
  ['numbers', '{"externalIds":["doctor"],"note":[1.0,1e3,12345678901234567890]}'],
  ['the order of fields', '{"b":1,"externalIds":["doctor"],"a":null,"b":2}'],
  ['200 KiB', `{"externalIds":["doctor"],"note":"${'x'.repeat(200 * 1024)}"}`],
];

/** Checks that bodies arrive unchanged. Some gateways parse JSON and write it in another form. */
async function alteredBody(access: Access, path: string): Promise<Check> {
  const altered: string[] = [];
  for (const [what, body] of PROBES) {
    const answer = await callSigned(access, path, body);
    if (answer.envelope?.code === 0) continue;
    // The client and the headers were right with the previous bodies, so this body causes the rejection.
    if (answer.envelope?.reason !== 'SIGNATURE_MISMATCH')
      return notWith(what, checkOf(answer, 'body'));
    altered.push(what);
  }
  if (altered.length === 0) return passed('body', 'it arrives byte for byte');
  const fix =
    'Let the gateway pass bodies on as bytes: no rewriting of JSON, no other character set.';
  return failed('body', `it is changed on the way: ${altered.join(', ')}`, fix);
}

const notWith = (what: string, { detail, fix = '' }: Check): Check =>
  failed('body', `with ${what} in it: ${detail}`, fix);
