/** Records the results of lines, and finds rejections that end the whole run. */
import type { PushData } from '../../../src/protocol/push-data';
import { isFromElsewhere, MatterPushError } from '../../client/error';
import { type Answered, isElsewhereForAll, type Rejected } from '../../client/verdict';
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
import type { PushTally } from './tally';
import { isOfTheService, type PostReader } from './waits';

export interface Noting {
  readonly done: DoneLines;
  readonly tally: PushTally;
  readonly failures: FailureFile;
}

/** Rejections of the client or the path. The service would reject every other line too. */
const FOR_ALL_CODES = [401, 403];
const FOR_ALL_REASONS = ['PATH_NOT_FOUND', 'METHOD_NOT_ALLOWED'];
const SIGNATURE_MISMATCH = 'SIGNATURE_MISMATCH';
const TO_THE_CAUSE =
  'matterctl doctor, with the same --client-id and --secret-file, finds the cause';

/** Records the result of each line. */
export class LineEnds {
  readonly #run: Noting;
  readonly #failedIds = new Set<string>();

  constructor(run: Noting) {
    this.#run = run;
  }

  /** The line cannot be pushed and was never sent. */
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
    const error = new MatterPushError(asTooLarge(rejection, push.body.length), {
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

/** The default of BODY_LIMIT of the service, in bytes. */
const BODY_LIMIT = 1_048_576;

/** If a connection breaks while a very long body is sent, the service has probably rejected its length. */
function asTooLarge(rejection: Rejected, bytes: number): Rejected {
  if (rejection.code !== 0 || bytes <= BODY_LIMIT) return rejection;
  const message = `${rejection.message}; the body has ${bytes} bytes, and BODY_LIMIT is ${BODY_LIMIT} by default`;
  return { ...rejection, message, reason: 'BODY_TOO_LARGE' };
}

/** Finds rejections whose cause is the client or the address, and not a line. */
export class ForAllCheck {
  readonly #checkPost: () => Promise<PostReader>;
  #isReached = false;
  #fromElsewhere = 0;

  /** @param checkPost sends a query with a signed POST, as pushes are sent, and returns who has answered */
  constructor(checkPost: () => Promise<PostReader>) {
    this.#checkPost = checkPost;
  }

  /** Call it with each answer. */
  noteAnswer(verdict: Answered | Rejected): void {
    this.#isReached ||= verdict.requestId !== null;
  }

  /** @throws CommandFailure if every other line would fail in the same way */
  async check(rejection: Rejected): Promise<void> {
    const { code, reason, message, retryable, requestId } = rejection;
    if (isFromElsewhere(rejection)) {
      if (isElsewhereForAll(rejection)) throw notTheService(rejection);
      // A gateway that passes other requests on may reject a batch because of its size or because of one line.
      if (!isOfTheService(rejection)) await this.#requireService(rejection);
      return;
    }
    const isForAll = FOR_ALL_CODES.includes(code) || FOR_ALL_REASONS.includes(reason);
    if (retryable || !isForAll) return;
    const where = reason === SIGNATURE_MISMATCH ? ` (requestId ${requestId}): ${TO_THE_CAUSE}` : '';
    throw new CommandFailure(
      `the service rejects every push: ${code} ${reason} ${message}${where}`,
    );
  }

  async #requireService(rejection: Rejected): Promise<void> {
    this.#fromElsewhere += 1;
    const isHopeless = !this.#isReached && this.#fromElsewhere > MAX_BEFORE_FIRST;
    if (isHopeless || (await this.#checkPost()) === 'elsewhere') throw notTheService(rejection);
  }
}

/**
 * Maximum pushes that something before the service may reject until the service has answered the first one. To find one
 * bad line in a batch, fewer requests are enough.
 */
const MAX_BEFORE_FIRST = 50;

/**
 * Something other than the service has answered. No line has failed, so the user can start the run again with another
 * address.
 *
 * @param line number of the line, if it was sent alone
 */
export function notTheService({ message }: Rejected, line?: number): CommandFailure {
  const why = line === undefined ? '' : `, or does a gateway reject line ${line}`;
  return new CommandFailure(
    `no line was rejected, but ${message}; is --url the address of the service${why}?`,
  );
}
