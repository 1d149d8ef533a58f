/** Checks how long callers waited, why connections broke, and whether the service recovered. */
import type { AttemptEnd, PushAttempt } from '../history';
import type { Evidence, Violation } from './evidence';
import { createSpans, type Spans, shownTime, spansOf } from './spans';

/** Milliseconds after the deadline by which a request must have ended. */
const ROOM = 1_000;
/** Milliseconds between a fault and its effect on a caller. */
const SLACK = 250;
/** Milliseconds after the last fault until no request may fail. */
const RECOVERY = 10_000;
/** Maximum milliseconds of a request from then on. */
const QUICK = 2_500;
/** Milliseconds after its start in which a web process warms up. */
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
    // The lines of a batch share one duration and one connection.
    const isOfRequest = !batch || batch.line === 1;
    return [
      ...(isOfRequest ? checkWait(attempt, timeout + ROOM, around) : []),
      ...(isOfRequest ? checkConnection(attempt, around.ended) : []),
      ...checkRecovery(attempt, { served, excused, isOfRequest }),
    ];
  });
}

/**
 * The time in which the web process was stopped, or the harness stalled, does not count. A recent start of the web
 * process counts, but the violation mentions it, because an overloaded machine affects new processes first.
 */
function checkWait(
  attempt: PushAttempt,
  limit: number,
  { held, ended }: { held: Spans; ended: Spans },
): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  const took = endedAt - sentAt;
  const isHung = end.kind === 'hung';
  if (!isHung && took <= limit) return [];
  const excused = held.lasted(sentAt, endedAt);
  if (took <= limit + excused && (!isHung || excused > 0)) return [];
  const expected =
    `expected within ${shownTime(limit)} and the ${shownTime(excused)} ` +
    'in which it was stopped or the harness stalled';
  const what = `${seen(attempt)} after ${shownTime(took)}: ${expected}${startOf(attempt, ended)}`;
  return [{ rule: 'answered-in-time', ...idOf(attempt), what }];
}

function startOf({ sentAt, endedAt }: PushAttempt, ended: Spans): string {
  const before = sentAt - (ended.lastEnd(endedAt) ?? -Infinity);
  if (before > JUST_STARTED) return '';
  const when = before < 0 ? 'after' : 'before';
  return `; its web process was started ${shownTime(Math.abs(before))} ${when} it was sent`;
}

function checkConnection(attempt: PushAttempt, ended: Spans): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  if (end.kind !== 'lost' && end.kind !== 'refused') return [];
  if (ended.touch(sentAt - SLACK, endedAt + SLACK)) return [];
  const when = shownTime(endedAt);
  const what = `${seen(attempt)} at ${when}, but its web process was neither killed nor restarted`;
  return [{ rule: 'connection', what }];
}

interface Calm {
  /** From this time, every request must succeed. */
  readonly served: number;
  /** Stalls of the harness, and of servers without a fault. */
  readonly excused: Spans;
  /** Whether to check the duration of the request with this attempt. */
  readonly isOfRequest: boolean;
}

function checkRecovery(attempt: PushAttempt, { served, excused, isOfRequest }: Calm): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  if (endedAt <= served) return [];
  const isServed = end.kind === 'left' || (end.kind === 'answered' && end.code < 500);
  const took = endedAt - sentAt;
  const isLate = isOfRequest && sentAt > served;
  const isSlow = isLate && took > QUICK + excused.lasted(sentAt, endedAt);
  if (isServed && !isSlow) return [];
  const when = `${shownTime(endedAt - served)} after the end of the recovery time`;
  const what = `${seen(attempt)} after ${shownTime(took)}, ${when}`;
  return [{ rule: 'recovery', ...idOf(attempt), what }];
}

function seen({ name, web, sentAt, end, operation }: PushAttempt): string {
  return `operation ${operation}, ${name} sent to ${web} at ${shownTime(sentAt)}, ${ending(end)}`;
}

function ending(end: AttemptEnd): string {
  if (end.kind === 'answered') return `answered ${end.code} ${end.reason ?? ''}`.trim();
  return end.kind === 'lost' ? `lost (${end.why})` : end.kind;
}

const idOf = ({ end }: PushAttempt) =>
  end.kind === 'answered' ? { requestId: end.requestId } : {};

/** The keys that the queue has after the last push is settled. */
export function checkLeftovers(leftovers: readonly string[]): Violation[] {
  return leftovers.map((name) => ({ rule: 'leftover', what: `${name} remains` }));
}
