/** The examination: one check after another, as a business system would come to them. */
import { TIMESTAMP_WINDOW } from '../../../src/protocol/headers';
import { CHECKS, type Check, failed, judge, passed, skipped } from './check';
import { roundTrip } from './round-trip';
import { type Access, callSigned, callUnsigned, type Heard } from './service';

/** Who is examined, and what ends it early. */
export interface Examined extends Pick<Access, 'url' | 'clientId' | 'secret'> {
  /** Aborted: nothing more is asked; what the round trip has pushed is still deleted. */
  readonly stop: AbortSignal;
  /** Aborted: not even that is waited for. */
  readonly cut: AbortSignal;
}

/** A question that changes nothing. */
const QUESTION = 'matters/get';
const BODY = '{"externalIds":["matterctl-doctor"]}';
const CLOCK_FIX = 'Set the clock of this machine by NTP; see that no gateway changes X-Timestamp.';

/** Every check of the list once, in its order; fewer where it was stopped. */
export async function* examine(examined: Examined): AsyncGenerator<Check> {
  let done = 0;
  for await (const check of examineUntilFailed(examined)) {
    // A question that was given up says nothing.
    if (examined.stop.aborted && check.check !== 'round trip') return;
    // Those that hold without having been looked at by themselves.
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
  yield isService ? passed('reachable', `${access.url} answers`) : judge(first, 'reachable');
  if (!isService) return;

  const ahead = aheadOf(first, sentAt);
  const { envelope } = await callSigned(access, QUESTION, BODY);
  const isRejected = envelope?.reason === 'TIMESTAMP_OUT_OF_WINDOW';
  const clock = clockCheck(ahead, isRejected);
  yield clock;
  // With a clock that is put right the rest can be looked at all the same.
  const setRight = { ...access, ahead: isRejected ? ahead : 0 };
  yield* examineSigned(setRight, examined, clock.status === 'failed');
}

/** @param isClockOff whether that was said already */
async function* examineSigned(
  access: Access,
  { stop, cut }: Examined,
  isClockOff: boolean,
): AsyncGenerator<Check> {
  const heard = await callSigned(access, QUESTION, BODY);
  const isSigned = heard.envelope?.code === 0 || (await isBodyAltered(access, heard));
  const verdict = isSigned ? undefined : judge(heard, heard.envelope ? 'secret' : 'headers');
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

/** A body that is empty cannot be written anew on the way: with it, only the secret counts. */
async function isBodyAltered(access: Access, { envelope }: Heard): Promise<boolean> {
  if (envelope?.reason !== 'SIGNATURE_MISMATCH') return false;
  const empty = await callSigned(access, QUESTION, '');
  return empty.envelope?.reason === 'INVALID_JSON';
}

/** Milliseconds that the service's clock is ahead of this one. */
function aheadOf({ clock }: Heard, sentAt: number): number {
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

/** What is left alone by everybody who passes bytes on. */
const PROBES: readonly (readonly [what: string, body: string])[] = [
  ['nothing special', '{"externalIds":["doctor"]}'],
  ['white space', '{ "externalIds" : [ "doctor" ],\r\n\t"note": "" }\n'],
  ['letters', '{"externalIds":["doctor"],"note":"审批 é 🚀"}'],
  ['escapes', '{"externalIds":["doctor"],"note":"\\u5ba1\\/ <&> \' + ="}'],
  ['numbers', '{"externalIds":["doctor"],"note":[1.0,1e3,12345678901234567890]}'],
  ['the order of fields', '{"b":1,"externalIds":["doctor"],"a":null,"b":2}'],
  ['200 KiB', `{"externalIds":["doctor"],"note":"${'x'.repeat(200 * 1024)}"}`],
];

/** Does the body arrive as it was sent? Gateways that read JSON like to write it anew. */
async function alteredBody(access: Access, path: string): Promise<Check> {
  const altered: string[] = [];
  for (const [what, body] of PROBES) {
    const heard = await callSigned(access, path, body);
    if (heard.envelope?.code === 0) continue;
    // Whatever it says of the client or the headers: with the bodies before this one they were right.
    if (heard.envelope?.reason !== 'SIGNATURE_MISMATCH') return notWith(what, judge(heard, 'body'));
    altered.push(what);
  }
  if (altered.length === 0) return passed('body', 'it arrives byte for byte');
  const fix =
    'Let the gateway pass bodies on as bytes: no rewriting of JSON, no other character set.';
  return failed('body', `it is changed on the way: ${altered.join(', ')}`, fix);
}

const notWith = (what: string, { detail, fix = '' }: Check): Check =>
  failed('body', `with ${what} in it: ${detail}`, fix);
