/**
 * The event `PushEnded`: a push has ended, and its caller gets the answer now. When a request of a known client ends,
 * `http/end-request.ts` counts the events of all pushes of the request.
 */
import type { OperationName } from '../domain/operation';
import { PushError } from '../protocol/errors';
import { BATCH, RESEND } from '../protocol/paths';
import type { CountedPush } from '../storage/push-log';
import { outcomeOf, type PushAnswer } from './push';

export interface PushEnded {
  readonly clientId: string;
  readonly systemCode: string;
  /** BATCH or RESEND if the operation is unknown: the line or the request is unreadable, or was not parsed. */
  readonly operation: OperationName | typeof BATCH | typeof RESEND;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly answer: PushAnswer;
  /** How many lines of a batch ended with this answer. Undefined: a single push, or an unreadable batch. */
  readonly lines: number | undefined;
  /**
   * True if the push has a log entry, or was given to the rejection log, which records the push or counts the push as
   * unrecorded.
   */
  readonly isRecorded: boolean;
}

/** Converts the event to the form that `PushCounts` counts. */
export function toCountedPush({
  clientId,
  systemCode,
  operation,
  receivedAt,
  answer,
}: PushEnded): CountedPush {
  const result = answer instanceof PushError ? answer.reason : outcomeOf(answer);
  return { clientId, systemCode, operation, result, receivedAt };
}

/** @returns the operation of the event; undefined if the operation is unknown (BATCH or RESEND) */
export const commonOperation = (operation: PushEnded['operation']): OperationName | undefined =>
  operation === BATCH || operation === RESEND ? undefined : operation;
