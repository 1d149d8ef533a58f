/** How long callers waited, why their connections broke, and whether they were served afterwards. */
import type { Attempt, AttemptEnd } from '../history';
import type { Evidence, Violation } from './evidence';
import { type Spans, spansOf } from './spans';

/** Milliseconds after the deadline by which a request must have ended. */
const ROOM = 1_000;
/** Milliseconds between a fault and what a caller sees of it. */
const SLACK = 250;
/** Milliseconds after the last fault from which on nothing may fail any more. */
const RECOVERY = 10_000;

export function checkServiceTimes({ history, faultsEndedAt }: Evidence): Violation[] {
  const { attempts, faults, pushTimeout } = history;
  const stopped = spansOf(faults, ['stop-web']);
  const ended = spansOf(faults, ['kill-web', 'restart-web']);
  const served = faultsEndedAt + RECOVERY;
  return attempts.flatMap((attempt) => [
    ...checkWait(attempt, pushTimeout + ROOM, stopped(attempt.ingress)),
    ...checkConnection(attempt, ended(attempt.ingress)),
    ...checkRecovery(attempt, served),
  ]);
}

/** A stopped ingress cannot answer; once it goes on, its callers get the rest of their time. */
function checkWait(attempt: Attempt, most: number, stopped: Spans): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  const took = endedAt - sentAt;
  const isHung = end.kind === 'hung';
  if (!isHung && took <= most) return [];
  const excused = stopped.lasted(sentAt, endedAt);
  if (took <= most + excused && (!isHung || excused > 0)) return [];
  const due = `due within ${most} ms and the ${excused} ms that it was stopped`;
  const what = `${seen(attempt)} after ${took} ms: ${due}`;
  return [{ rule: 'answered-in-time', ...idOf(attempt), what }];
}

function checkConnection(attempt: Attempt, ended: Spans): Violation[] {
  const { sentAt, endedAt, end } = attempt;
  if (end.kind !== 'lost' && end.kind !== 'refused') return [];
  if (ended.touch(sentAt - SLACK, endedAt + SLACK)) return [];
  const what = `${seen(attempt)} at ${endedAt}, where it was neither killed nor restarted`;
  return [{ rule: 'connection', what }];
}

function checkRecovery(attempt: Attempt, served: number): Violation[] {
  const { sentAt, end } = attempt;
  if (sentAt <= served || (end.kind === 'answered' && end.code < 500)) return [];
  const what = `${seen(attempt)}, ${sentAt - served} ms after all was due to be served again`;
  return [{ rule: 'recovery', ...idOf(attempt), what }];
}

function seen({ name, ingress, sentAt, end, operation }: Attempt): string {
  return `operation ${operation}, ${name} sent to ${ingress} at ${sentAt}, ${ending(end)}`;
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
