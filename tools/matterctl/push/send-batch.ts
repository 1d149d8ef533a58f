/** Sends lines in batches and judges the answers: it waits for the service, and repeats or fails lines. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../client/backoff';
import type { BatchVerdict } from '../../client/batch-verdict';
import { isFromElsewhere } from '../../client/error';
import {
  BATCH_BYTES,
  batchBytesOf,
  halfOf,
  hasTooManyBytes,
  hasTooManyLines,
  mayLieInOneLine,
  takesNoBatches,
  tookTooLong,
} from '../../client/try-pushes';
import { type Answered, isRateLimit, type Rejected, toRejected } from '../../client/verdict';
import { CommandFailure } from '../failure';
import type { FileLine } from './file-line';
import type { PaceTicket } from './pace';
import { ForAllCheck, notTheService } from './push-work';
import type { Remaining, Sending } from './sending';
import { causeOf, duration, isOfTheService } from './waits';

/** One attempt to send a batch, after its answer. */
interface Try {
  readonly batch: readonly FileLine[];
  readonly ticket: PaceTicket;
  /** `moves` of the standstill before the attempt. */
  readonly before: number;
  /** Duration in milliseconds. */
  readonly took: number;
}

/** Reason of a line that was not applied, because an earlier line of its matter has to be sent again. */
const SKIPPED = 'SKIPPED_AFTER_FAILURE';
/** Milliseconds in which no batch is sent to a service that does not support batches. */
const BATCH_RETRY_PAUSE = 60_000;
const NO_VERDICT = toRejected(
  { code: 500, message: '', reason: 'NO_RESULT', requestId: null, errors: [], warnings: [] },
  undefined,
);
/** Milliseconds. A shorter first wait is not printed. */
const SHORT = 2_000;

/**
 * If the service is the cause of a rejection, the attempt does not count for the retries of a line. If a line may be
 * the cause, for example of a broken connection, it counts, unless the service is down. To find the line in a batch,
 * the lines are sent in smaller batches.
 */
export class BatchSender {
  readonly #sending: Sending;
  readonly #forAll: ForAllCheck;
  #wasReached = false;
  /** Maximum lines and bytes that the service accepts in a batch, as far as known. */
  #maxLines = Number.POSITIVE_INFINITY;
  #maxBytes = BATCH_BYTES;
  #noBatchesUntil = Number.NEGATIVE_INFINITY;

  constructor(sending: Sending) {
    this.#sending = sending;
    this.#forAll = new ForAllCheck(sending.checkPost);
  }

  /** Maximum lines of the next batch. */
  maxLines(): number {
    if (performance.now() < this.#noBatchesUntil) return 1;
    return Math.min(this.#sending.pace.limits().lines, this.#maxLines);
  }

  /** Maximum bytes of the next batch. */
  maxBytes(): number {
    return this.#maxBytes;
  }

  /**
   * Sends lines once, and records the lines that have a result.
   *
   * @returns the lines to send again; undefined if the run was stopped before the answer
   * @throws CommandFailure if every other line would fail in the same way, if the service was never reached, or if it
   *   was not available for `maxWait`
   */
  async send(lines: readonly FileLine[]): Promise<Remaining | undefined> {
    const { standstill, gate, pace, stop, cut } = this.#sending;
    await standstill.pass(lines[0]?.number ?? 0);
    await gate.pass(stop).catch(() => undefined);
    if (stop.aborted) return undefined;
    // The maximum may have become smaller while the lines waited.
    const batch = this.#fitting(lines);
    const rest = lines.slice(batch.length);
    const [ticket, before, startedAt] = [pace.begin(), standstill.moves(), performance.now()];
    for (const line of batch) {
      line.tries += 1;
      line.startedAt ??= startedAt;
    }
    const outgoing = batch.map(({ push }) => push);
    const verdict = await this.#sending.tryPushes(outgoing, this.#sending.sender, cut);
    if (cut.aborted) return undefined;
    const took = performance.now() - startedAt;
    const left = await this.#judge({ batch, ticket, before, took }, verdict);
    return rest.length > 0 ? { ...left, again: [...left.again, ...rest] } : left;
  }

  /** The first of the lines, as many as the service accepts now, but at least one. */
  #fitting(lines: readonly FileLine[]): readonly FileLine[] {
    let bytes = 0;
    const end = lines.findIndex(({ size }, n) => {
      bytes += size;
      return n > 0 && (n >= this.maxLines() || bytes > this.maxBytes());
    });
    return end === -1 ? lines : lines.slice(0, end);
  }

  #judge(tried: Try, { whole, lines }: BatchVerdict): Promise<Remaining> {
    if (!whole) return this.#judgeLines(tried, lines);
    if (tried.batch.length === 1) return this.#judgeLines(tried, [whole]);
    return this.#judgeWhole(tried, whole);
  }

  async #judgeWhole(tried: Try, whole: Rejected): Promise<Remaining> {
    const { batch } = tried;
    this.#forAll.noteAnswer(whole);
    if (takesNoBatches(whole)) {
      this.#noBatchesUntil = performance.now() + BATCH_RETRY_PAUSE;
      // The service has answered, so a standstill must end here.
      this.#wasReached = true;
      this.#sending.standstill.moved();
      return { again: batch, wait: 0 };
    }
    await this.#forAll.check(whole);
    if (hasTooManyLines(whole)) this.#maxLines = halfOf(batch.length);
    if (hasTooManyBytes(whole))
      this.#maxBytes = Math.min(this.#maxBytes, halfOf(batchBytesOf(batch)));
    // The lines are sent again in halves, because one of them may be the cause. The following batches slow down too.
    if (tookTooLong(whole)) this.#sending.pace.rejected(tried.ticket);
    this.#wasReached ||= whole.code !== 0;
    const isOfLine = mayLieInOneLine(whole) && (await this.#mayBeALine(whole));
    if (!isOfLine) return this.#rejected(tried, batch, whole);
    this.#sending.standstill.moved();
    for (const line of batch) line.company = halfOf(batch.length);
    return this.#again(batch, whole, whole.retryable ? backoff(1, whole.retryAfter) : 0);
  }

  async #judgeLines(tried: Try, verdicts: readonly (Answered | Rejected)[]): Promise<Remaining> {
    const { ends, retries } = this.#sending;
    const again: FileLine[] = [];
    const rejections: Rejected[] = [];
    let isCounted = false;
    for (const [index, line] of tried.batch.entries()) {
      const verdict = verdicts[index] ?? NO_VERDICT;
      this.#forAll.noteAnswer(verdict);
      if (verdict.kind === 'answered') {
        ends.accepted(line, verdict);
        continue;
      }
      await this.#forAll.check(verdict);
      this.#wasReached ||= verdict.code !== 0;
      if (verdict.retryable && (await this.#mayBeALine(verdict))) {
        line.counted += 1;
        isCounted = true;
      }
      const isOver = !verdict.retryable || line.counted > retries;
      // Only an answer of the service itself may fail a line.
      if (isOver && isFromElsewhere(verdict)) throw notTheService(verdict, line.number);
      if (isOver) ends.rejected(line, verdict);
      else {
        again.push(line);
        rejections.push(verdict);
      }
    }
    const hasMoved = isCounted || again.length < tried.batch.length;
    return this.#after(tried, again, rejections, hasMoved);
  }

  #after(
    tried: Try,
    again: readonly FileLine[],
    rejections: readonly Rejected[],
    hasMoved: boolean,
  ): Remaining {
    const { standstill, pace } = this.#sending;
    if (hasMoved) {
      this.#wasReached = true;
      standstill.moved();
    }
    // The reason why the other lines were skipped.
    const rejection = rejections.find(({ reason }) => reason !== SKIPPED) ?? rejections[0];
    if (rejection) return this.#rejected(tried, again, rejection);
    pace.answered(tried.ticket, tried.took);
    return { again, wait: 0 };
  }

  /** The service is the cause of the rejection, or lines that may be sent again. */
  #rejected(tried: Try, again: readonly FileLine[], rejection: Rejected): Remaining {
    const { standstill, pace, gate, reporter } = this.#sending;
    if (isRateLimit(rejection)) {
      gate.pause(rejection.retryAfter ?? backoff(1));
      reporter.slowed(causeOf(rejection, this.#sending));
      standstill.moved();
      return this.#again(again, rejection, 0);
    }
    if (isOfTheService(rejection)) pace.rejected(tried.ticket);
    const tries = Math.max(...again.map((line) => line.tries));
    if (standstill.moves() !== tried.before) {
      return this.#again(again, rejection, backoff(tries, rejection.retryAfter));
    }
    const left = this.#again(again, rejection, 0);
    this.#stand(tried.batch[0]?.number ?? 0, rejection);
    return left;
  }

  /** @throws CommandFailure if the oldest of the lines has waited longer than `maxWait` */
  #again(again: readonly FileLine[], rejection: Rejected, wait: number): Remaining {
    const { maxWait, tally } = this.#sending;
    const now = performance.now();
    const waited = now - Math.min(...again.map(({ startedAt = now }) => startedAt));
    if (waited > maxWait) {
      const cause = causeOf(rejection, this.#sending);
      throw new CommandFailure(`given up after ${duration(waited)}: ${cause}`);
    }
    for (const _ of again) tally.retried(rejection.reason);
    return { again, wait };
  }

  /** Whether a line may be the cause of the rejection. It is not if the service is down or was never reached. */
  async #mayBeALine(rejection: Rejected): Promise<boolean> {
    if (!this.#wasReached || isOfTheService(rejection)) return false;
    return !rejection.retryable || (await this.#sending.checkService()) !== 'down';
  }

  /**
   * Reports that the run stands still.
   *
   * @throws CommandFailure if the service was never reached: the address may be wrong
   */
  #stand(number: number, rejection: Rejected): void {
    const { standstill, reporter, retries } = this.#sending;
    const { tries, wait, since } = standstill.rejected(number, rejection.retryAfter);
    if (wait === undefined) return;
    const cause = causeOf(rejection, this.#sending);
    if (!this.#wasReached && tries > retries) throw new CommandFailure(cause);
    if (tries > 1 || wait > SHORT) reporter.standing(cause, since, wait);
  }
}

/** Waits for `wait` milliseconds, or until the run is stopped. */
export const waitFor = (wait: number, stop: AbortSignal) =>
  sleep(wait, undefined, { signal: stop }).catch(() => undefined);
