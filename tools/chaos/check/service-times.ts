/** How long callers waited, why their connections broke, and whether they were served afterwards. */
import type { Attempt, AttemptEnd } from '../history';
import type { Evidence, Violation } from './evidence';
import { createSpans, type Spans, shownTime, spansOf } from './spans';

/** Milliseconds after the deadline by which a request must have ended. */
const ROOM = 1_000;
/** Milliseconds between a fault and what a caller sees of it. */
const SLACK = 250;
/** Milliseconds after the last fault from which on nothing may fail any more. */
const RECOVERY = 10_000;
/** Milliseconds that a request may take from then on. */
const QUICK = 2_500;
/** Milliseconds after its start in which a web process may not have warmed up. */
const JUST_STARTED = 5_000;

export function checkServiceTimes({ history, faultsEndedAt }: Evidence): Violation[] {
  const { attempts, faults, stalls, serverStalls, pushTimeout, batchTimeout } = history;
  const held = spansOf(faults, ['stop-web'], stalls);
  const ended = spansOf(faults, ['kill-web', 'restart-web']);
  const excused = createSpans([...stalls, ...serverStalls]);
  const served = faultsEndedAt + RECOVERY;
  return attempts.flatMap((attempt) => {
    const { web, batch } = attempt;
    const around = { held: held(web), ended: ended(web) };
    const timeout = batch ? batchTimeout : pushTimeout;
    // The lines of a batch share its time and its connection.
    const isOfRequest = !batch || batch.line === 1;
    return [
      ...(isOfRequest ? checkWait(attempt, timeout + ROOM, around) : []),
      ...(isOfRequest ? checkConnection(attempt, around.ended) : []),
      ...checkRecovery(attempt, { served, excused, isOfRequest }),
    ];
  });
}

/**
 * A stopped web process cannot answer; once it goes on, its callers get the rest of their time. While
 * the harness stood still, it did not see what came. A web process that has just started has no
 * excuse, but it is said, since a starved machine shows there first.
 */
function checkWait(
  attempt: Attempt,
  most: number,
  { held, ended }: { held: Spans; ended: Spans },
): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  const took = endedAt - sentAt;
  const isHung = end.kind === 'hung';
  if (!isHung && took <= most) return [];
  const excused = held.lasted(sentAt, endedAt);
  if (took <= most + excused && (!isHung || excused > 0)) return [];
  const due =
    `due within ${shownTime(most)} and the ${shownTime(excused)} ` +
    'that it or the harness was stopped';
  const what = `${seen(attempt)} after ${shownTime(took)}: ${due}${startOf(attempt, ended)}`;
  return [{ rule: 'answered-in-time', ...idOf(attempt), what }];
}

function startOf({ sentAt, endedAt }: Attempt, ended: Spans): string {
  const before = sentAt - (ended.lastEnd(endedAt) ?? -Infinity);
  if (before > JUST_STARTED) return '';
  const when = before < 0 ? 'after' : 'before';
  return `; its web process was started ${shownTime(Math.abs(before))} ${when} it was sent`;
}

function checkConnection(attempt: Attempt, ended: Spans): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  if (end.kind !== 'lost' && end.kind !== 'refused') return [];
  if (ended.touch(sentAt - SLACK, endedAt + SLACK)) return [];
  const when = shownTime(endedAt);
  const what = `${seen(attempt)} at ${when}, where it was neither killed nor restarted`;
  return [{ rule: 'connection', what }];
}

interface Calm {
  /** Since when all is due to be served. */
  readonly served: number;
  /** When the harness, or a server by itself, stood still. */
  readonly excused: Spans;
  /** Whether the time of the request is judged with it. */
  readonly isOfRequest: boolean;
}

function checkRecovery(attempt: Attempt, { served, excused, isOfRequest }: Calm): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  if (endedAt <= served) return [];
  const isServed = end.kind === 'left' || (end.kind === 'answered' && end.code < 500);
  const took = endedAt - sentAt;
  const isLate = isOfRequest && sentAt > served;
  const isSlow = isLate && took > QUICK + excused.lasted(sentAt, endedAt);
  if (isServed && !isSlow) return [];
  const due = `${shownTime(endedAt - served)} after all was due to be served again`;
  const what = `${seen(attempt)} after ${shownTime(took)}, ${due}`;
  return [{ rule: 'recovery', ...idOf(attempt), what }];
}

function seen({ name, web, sentAt, end, operation }: Attempt): string {
  return `operation ${operation}, ${name} sent to ${web} at ${shownTime(sentAt)}, ${ending(end)}`;
}

function ending(end: AttemptEnd): string {
  if (end.kind === 'answered') return `answered ${end.code} ${end.reason ?? ''}`.trim();
  return end.kind === 'lost' ? `lost (${end.why})` : end.kind;
}

const idOf = ({ end }: Attempt) => (end.kind === 'answered' ? { requestId: end.requestId } : {});

/** What the queue still holds when nothing is under way any more. */
export function checkLeftovers(leftovers: readonly string[]): Violation[] {
  return leftovers.map((name) => ({ rule: 'leftover', what: `${name} is left, due is nothing` }));
}
