/** What is done with one line, and what is noted of it. */
import { MatterPushError } from '../../client/error';
import { CommandFailure } from '../failure';
import { type BadLine, badLine, type FailureFile, type PushLine, rejectedLine } from './push-line';
import type { DoneLines } from './run-state';
import { createSendLine, type Sending } from './send-line';
import type { Tally } from './tally';

export interface PushWork extends Sending {
  /** Prefix of the idempotency keys of lines that have none of their own. */
  readonly runId: string;
  readonly done: DoneLines;
  readonly tally: Tally;
  readonly failures: FailureFile;
}

/** The service rejects the client or the path, for every line alike. */
const FOR_ALL_CODES = [401, 403];
const FOR_ALL_REASONS = ['PATH_NOT_FOUND', 'METHOD_NOT_ALLOWED'];
/** Not from the service. Something that stands where it should be answers so, or a gateway before it. */
const ELSEWHERE = /^HTTP_(?:200|3\d\d|401|403|404|405)$/;

const MISMATCH = 'SIGNATURE_MISMATCH';
const TO_THE_CAUSE =
  'matterctl doctor, with the same --client-id and --secret-file, finds the cause';

/**
 * @returns the work on a line; a line that was stopped before its end is not noted as done
 * @throws (the work) CommandFailure where every other line would fail the same way
 */
export function createPushWork(run: PushWork): (line: PushLine | BadLine) => Promise<void> {
  const { runId, done, tally, failures } = run;
  const sendLine = createSendLine(run);
  const throwIfForAll = createForAllCheck(run);
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
    const { number, externalId } = line;
    const result = await sendLine(line, line.key ?? `${runId}-${number}`);
    if (!result) return;
    const isRejected = result instanceof MatterPushError;
    await throwIfForAll(result);
    if (externalId !== undefined && failedIds.has(externalId)) tally.sentAfterFailure();
    if (isRejected) {
      fail(line, result.reason, rejectedLine(line, result));
      if (externalId !== undefined) failedIds.add(externalId);
    } else {
      tally.accepted(result);
      done.add(number);
    }
  };
}

/**
 * @returns what throws a CommandFailure where it lies in the client or the address, and not in the line:
 *   a gateway may reject one line for its contents, as long as the service answers behind it
 */
function createForAllCheck({ askService }: Pick<Sending, 'askService'>) {
  let isMatterPush = false;
  return async (result: object): Promise<void> => {
    const isRejected = result instanceof MatterPushError;
    const isElsewhere = isRejected && ELSEWHERE.test(result.reason);
    isMatterPush ||= !isRejected || (result.requestId !== null && !isElsewhere);
    if (!isRejected) return;
    const { code, reason, message, retryable } = result;
    const isOurs = !reason.startsWith('HTTP_');
    const isForAll = isOurs
      ? FOR_ALL_CODES.includes(code) || FOR_ALL_REASONS.includes(reason)
      : isElsewhere && !isMatterPush && (await askService()) !== 'ready';
    if (!isForAll || retryable) return;
    const where = reason === MISMATCH ? ` (requestId ${result.requestId}): ${TO_THE_CAUSE}` : '';
    throw new CommandFailure(
      `the service rejects every push: ${code} ${reason} ${message}${where}`,
    );
  };
}
