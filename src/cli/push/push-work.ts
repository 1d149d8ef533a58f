/** What is done with one line, and what is noted of it. */
import { MatterPushError } from '../../client/error';
import type { MatterPushClient } from '../../client/matter-push-client';
import { CommandFailure } from '../failure';
import type { DoneLines } from './done-lines';
import { badLine, type FailureFile, refusedLine } from './failure-file';
import type { BadLine, PushLine } from './push-line';
import type { Tally } from './tally';

export interface PushWork {
  /** Prefix of the idempotency keys of lines that have none of their own. */
  readonly runId: string;
  readonly done: DoneLines;
  readonly tally: Tally;
  readonly failures: FailureFile;
  readonly client: Pick<MatterPushClient, 'push'>;
  /** Cuts off what is under way. */
  readonly cut: AbortSignal;
}

/** Nobody can be reached at all: it lies in the address or the network, not in the line. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** By an operator, for how long nobody knows: its queries are answered, no push of it is. */
export const PAUSED = 'CLIENT_PAUSED';
/** The run ended before the line did. */
const UNSETTLED = new Set(['CLOSED', 'ABORTED']);

/**
 * @returns the work on a line; a line that was stopped before its end is not noted as done
 * @throws (the work) CommandFailure where every other line would fail the same way
 */
export function createPushWork(run: PushWork): (line: PushLine | BadLine) => Promise<void> {
  const { runId, done, tally, failures, client, cut } = run;
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
    const result = await client.push(op, body, { idempotencyKey, signal: cut }).catch(asResult);
    tally.sent(result.tries);
    const isRefused = result instanceof MatterPushError;
    if (isRefused && UNSETTLED.has(result.reason)) return;
    if (isRefused) throwIfForAll(result);
    if (externalId !== undefined && failedIds.has(externalId)) tally.sentAfterFailure();
    if (isRefused) {
      fail(line, result.reason, refusedLine(line, result));
      if (externalId !== undefined) failedIds.add(externalId);
    } else {
      tally.accepted(result);
      done.add(number);
    }
  };
}

function asResult(error: unknown): MatterPushError {
  if (error instanceof MatterPushError) return error;
  throw error;
}

/** @throws CommandFailure where it lies in the client, the address or the network: the run should end */
function throwIfForAll({ code, reason, message, retryable }: MatterPushError): void {
  if (reason === PAUSED) throw new CommandFailure(`the client is paused: ${message}`);
  if (UNREACHABLE.has(reason)) {
    throw new CommandFailure(`the service cannot be reached: ${message}`);
  }
  const isForAll = code === 401 || code === 403 || reason === 'PATH_NOT_FOUND';
  if (isForAll && !retryable) {
    throw new CommandFailure(`the service refuses every push: ${code} ${reason} ${message}`);
  }
}
