/** What is done with one line, and what is noted of it. */
import type { DoneLines } from './done-lines';
import { badLine, type FailureFile, refusedLine } from './failure-file';
import { createGate } from './gate';
import type { BadLine, PushLine } from './push-line';
import { pushUntilSettled } from './push-until-settled';
import type { Sender } from './sender';
import type { Tally } from './tally';

export interface PushWork {
  /** Prefix of the idempotency keys of lines that have none of their own. */
  readonly runId: string;
  readonly done: DoneLines;
  readonly tally: Tally;
  readonly failures: FailureFile;
  readonly sender: Sender;
  readonly retries: number;
  readonly stop: AbortSignal;
}

/** @returns the work on a line; a line that was stopped before its end is not noted as done */
export function createPushWork(run: PushWork): (line: PushLine | BadLine) => Promise<void> {
  const { runId, done, tally, failures, sender, retries, stop } = run;
  const settling = { sender, gate: createGate(), retries, stop, onRetry: tally.retried };
  const failedIds = new Set<string>();

  const fail = (line: PushLine | BadLine, reason: string, failure: object) => {
    failures.add(failure);
    tally.failed(reason);
    done.add(line.number);
  };
  return async (line) => {
    if (!('op' in line)) {
      fail(line, line.reason, badLine(line));
      return;
    }
    const { number, op, body, externalId } = line;
    const idempotencyKey = line.key ?? `${runId}-${number}`;
    const verdict = await pushUntilSettled({ op, body, idempotencyKey }, settling);
    if (!verdict) return;
    if (externalId !== undefined && failedIds.has(externalId)) tally.sentAfterFailure();
    if (verdict.kind === 'accepted') {
      tally.accepted(verdict);
      done.add(number);
    } else {
      fail(line, verdict.reason, refusedLine(line, idempotencyKey, verdict));
      if (externalId !== undefined) failedIds.add(externalId);
    }
  };
}
