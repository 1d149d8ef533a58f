/** What is noted of a line that came to its end, and what ends the whole run. */
import type { PushData } from '../../../src/protocol/envelope';
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
import type { Tally } from './tally';
import { isOfTheService, type PostReader } from './waits';

export interface Noting {
  readonly done: DoneLines;
  readonly tally: Tally;
  readonly failures: FailureFile;
}

/** The service rejects the client or the path, for every line alike. */
const FOR_ALL_CODES = [401, 403];
const FOR_ALL_REASONS = ['PATH_NOT_FOUND', 'METHOD_NOT_ALLOWED'];
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
  readonly #askByPost: () => Promise<PostReader>;
  #isReached = false;
  #fromElsewhere = 0;

  /** @param askByPost asks something that changes nothing, by POST and signed, as pushes are */
  constructor(askByPost: () => Promise<PostReader>) {
    this.#askByPost = askByPost;
  }

  /** To be called with each answer. */
  heard(verdict: Answered | Rejected): void {
    this.#isReached ||= verdict.requestId !== null;
  }

  /** @throws CommandFailure where every other line would fail the same way */
  async check(rejection: Rejected): Promise<void> {
    const { code, reason, message, retryable, requestId } = rejection;
    if (isFromElsewhere(rejection)) {
      if (isElsewhereForAll(rejection)) throw notTheService(rejection);
      // A gateway may reject a batch for its size or for one line, if it lets other requests through.
      if (!isOfTheService(rejection)) await this.#requireService(rejection);
      return;
    }
    const isForAll = FOR_ALL_CODES.includes(code) || FOR_ALL_REASONS.includes(reason);
    if (retryable || !isForAll) return;
    const where = reason === MISMATCH ? ` (requestId ${requestId}): ${TO_THE_CAUSE}` : '';
    throw new CommandFailure(
      `the service rejects every push: ${code} ${reason} ${message}${where}`,
    );
  }

  async #requireService(rejection: Rejected): Promise<void> {
    this.#fromElsewhere += 1;
    const isHopeless = !this.#isReached && this.#fromElsewhere > MAX_BEFORE_FIRST;
    if (isHopeless || (await this.#askByPost()) === 'elsewhere') throw notTheService(rejection);
  }
}

/**
 * Pushes that something else may reject before the service has answered one. One bad line in a batch is found with
 * fewer requests.
 */
const MAX_BEFORE_FIRST = 50;

/**
 * No line has failed for it: the run can be started again with another address.
 *
 * @param line the number of the line that was sent alone
 */
export function notTheService({ message }: Rejected, line?: number): CommandFailure {
  const why = line === undefined ? '' : `, or does a gateway reject line ${line}`;
  return new CommandFailure(
    `no line was rejected, but ${message}; is --url the address of the service${why}?`,
  );
}
