/** The event that a push has ended. `http/end-request.ts` counts these events. */
import type { OperationName } from '../domain/operation';
import { PushError } from '../protocol/errors';
import { BATCH, RESEND } from '../protocol/paths';
import type { CountedPush } from '../storage/push-log';
import { outcomeOf, type PushAnswer } from './push';

export interface PushEnded {
  readonly clientId: string;
  readonly systemCode: string;
  /** BATCH or RESEND if the operation of the push is unknown. */
  readonly operation: OperationName | typeof BATCH | typeof RESEND;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  readonly answer: PushAnswer;
  /** Number of batch lines with this answer; undefined for a single push and for an unparsed batch. */
  readonly lines: number | undefined;
  readonly isRecorded: boolean;
}

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

export const commonOperation = (operation: PushEnded['operation']): OperationName | undefined =>
  operation === BATCH || operation === RESEND ? undefined : operation;
