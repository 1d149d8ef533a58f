/** What is noted of a line that came to its end, and what ends the whole run. */
import type { PushData } from '../../../src/protocol/envelope';
import { MatterPushError } from '../../client/error';
import type { Answered, Rejected } from '../../client/verdict';
import { CommandFailure } from '../failure';
import type { FileLine } from './file-line';
import {
  type BadLine,
  badLine,
  type FailedLine,
  type FailureFile,
  rejectedLine,
} from './push-line';
import type { DoneLines } from './run-state';
import type { Tally } from './tally';
import type { ServiceState } from './waits';

export interface Noting {
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

/** Notes how lines end. */
export class LineEnds {
  readonly #run: Noting;
  readonly #failedIds = new Set<string>();

  constructor(run: Noting) {
    this.#run = run;
  }

  /** It was never sent. */
  unreadable(line: BadLine): void {
    this.#fail(line.number, line.reason, badLine(line));
  }

  accepted(file: FileLine, { data, replayed }: Answered): void {
    this.#noteOrder(file);
    this.#run.tally.accepted({ ...(data as PushData), replayed });
    this.#run.done.add(file.number);
  }

  rejected(file: FileLine, rejection: Rejected): void {
    this.#noteOrder(file);
    const { tries, push, line, key } = file;
    const error = new MatterPushError(namedTooLarge(rejection, push.body.length), {
      ...{ tries, idempotencyKey: push.idempotencyKey },
    });
    this.#fail(file.number, error.reason, rejectedLine(line, error));
    if (key !== undefined) this.#failedIds.add(key);
  }

  #noteOrder({ key }: FileLine): void {
    if (key !== undefined && this.#failedIds.has(key)) this.#run.tally.sentAfterFailure();
  }

  #fail(number: number, reason: string, failure: FailedLine): void {
    const { failures, tally, done } = this.#run;
    failures.add(failure);
    tally.failed(reason);
    done.add(number);
  }
}

/** The service's default, in bytes. */
const BODY_LIMIT = 1_048_576;

/** A connection that breaks while too long a body is sent often loses the answer that says so. */
function namedTooLarge(rejection: Rejected, bytes: number): Rejected {
  if (rejection.code !== 0 || bytes <= BODY_LIMIT) return rejection;
  const message = `${rejection.message}; the body has ${bytes} bytes, and BODY_LIMIT is ${BODY_LIMIT} by default`;
  return { ...rejection, message, reason: 'BODY_TOO_LARGE' };
}

/** Finds what lies in the client or the address, and not in a line. */
export class ForAllCheck {
  readonly #askService: () => Promise<ServiceState>;
  #isMatterPush = false;

  constructor(askService: () => Promise<ServiceState>) {
    this.#askService = askService;
  }

  /** To be told each answer: a gateway may reject one line, as long as the service answers behind it. */
  heard(verdict: Answered | Rejected): void {
    const isElsewhere = verdict.kind === 'rejected' && ELSEWHERE.test(verdict.reason);
    this.#isMatterPush ||= verdict.requestId !== null && !isElsewhere;
  }

  /** @throws CommandFailure where every other line would fail the same way */
  async check({ code, reason, message, retryable, requestId }: Rejected): Promise<void> {
    if (retryable) return;
    const isElsewhere = ELSEWHERE.test(reason);
    const isOurs = !reason.startsWith('HTTP_');
    const isForAll = isOurs
      ? FOR_ALL_CODES.includes(code) || FOR_ALL_REASONS.includes(reason)
      : isElsewhere && !this.#isMatterPush && (await this.#askService()) !== 'ready';
    if (!isForAll) return;
    const where = reason === MISMATCH ? ` (requestId ${requestId}): ${TO_THE_CAUSE}` : '';
    throw new CommandFailure(
      `the service rejects every push: ${code} ${reason} ${message}${where}`,
    );
  }
}
