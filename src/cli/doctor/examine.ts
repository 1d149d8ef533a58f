/** The examination: one check after another, as a business system would come to them. */
import { TIMESTAMP_WINDOW } from '../../contract/headers';
import { alteredBody } from './altered-body';
import { CHECKS, type Check, failed, passed, skipped } from './check';
import { judge } from './judge';
import { roundTrip } from './round-trip';
import { type Access, callSigned, callUnsigned, type Heard } from './service';

/** A question that changes nothing. */
const QUESTION = 'matters/get';
const BODY = '{"externalIds":["matterctl-doctor"]}';
const CLOCK_FIX = 'Set the clock of this machine by NTP; see that no gateway changes X-Timestamp.';

/** Every check of the list once, in its order. */
export async function* examine(access: Omit<Access, 'ahead'>): AsyncGenerator<Check> {
  let done = 0;
  for await (const check of examineUntilFailed(access)) {
    // Those that hold without having been looked at by themselves.
    for (; CHECKS[done] !== check.check; done += 1) yield skipped(CHECKS[done] ?? check.check);
    done += 1;
    yield check;
  }
  for (const name of CHECKS.slice(done)) yield skipped(name);
}

async function* examineUntilFailed(given: Omit<Access, 'ahead'>): AsyncGenerator<Check> {
  const sentAt = Date.now();
  const first = await callUnsigned(given.url, QUESTION);
  const isService = first.envelope?.reason === 'HMAC_HEADERS_MISSING';
  yield isService ? passed('reachable', `${given.url} answers`) : judge(first, 'reachable');
  if (!isService) return;

  const ahead = aheadOf(first, sentAt);
  const { envelope } = await callSigned({ ...given, ahead: 0 }, QUESTION, BODY);
  const isRefused = envelope?.reason === 'TIMESTAMP_OUT_OF_WINDOW';
  yield clockCheck(ahead, isRefused);
  // With a clock that is put right the rest can be looked at all the same.
  yield* examineSigned({ ...given, ahead: isRefused ? ahead : 0 });
}

async function* examineSigned(access: Access): AsyncGenerator<Check> {
  const heard = await callSigned(access, QUESTION, BODY);
  const isSigned = heard.envelope?.code === 0 || (await isBodyAltered(access, heard));
  const verdict = isSigned ? undefined : judge(heard, 'headers');
  // Said already.
  if (verdict?.check === 'clock') return;
  if (verdict?.check !== 'headers') {
    yield passed('headers', 'X-Client-Id, X-Timestamp and X-Signature arrive');
  }
  if (verdict) {
    yield verdict;
    return;
  }
  yield passed('secret', 'its signature is right');
  yield passed('client', `${access.clientId} is known, enabled and has a system code`);
  const body = await alteredBody(access, QUESTION);
  yield body;
  if (body.status === 'ok') yield await roundTrip(access);
}

/** A body that is empty cannot be written anew on the way: with it, only the secret counts. */
async function isBodyAltered(access: Access, { envelope }: Heard): Promise<boolean> {
  if (envelope?.reason !== 'SIGNATURE_MISMATCH') return false;
  const empty = await callSigned(access, QUESTION, '');
  return empty.envelope?.reason === 'INVALID_JSON';
}

/** Milliseconds that the service's clock is ahead of this one, as far as a header with seconds tells. */
function aheadOf({ clock }: Heard, sentAt: number): number {
  const here = (sentAt + Date.now()) / 2;
  return clock === undefined ? 0 : clock - here;
}

/** @param isRefused whether the service refuses a timestamp of this machine */
function clockCheck(ahead: number, isRefused: boolean): Check {
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const isOff = seconds > TIMESTAMP_WINDOW;
  if (!isOff && !isRefused) return passed('clock', `within ${Math.max(1, seconds)} s`);
  const side = ahead > 0 ? 'behind' : 'ahead of';
  const detail = isOff
    ? `this machine is ${seconds} s ${side} the service; ${TIMESTAMP_WINDOW} are allowed`
    : 'the timestamp is refused although the clocks are together: it arrives changed';
  return failed('clock', detail, CLOCK_FIX);
}
