/** Lines in batches, from their first try to their answer: what lies in the service is waited for. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../client/backoff';
import type { BatchVerdict } from '../../client/batch-verdict';
import { isFromElsewhere } from '../../client/error';
import {
  BATCH_BYTES,
  bytesOf,
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
import type { Left, Sending } from './sending';
import { causeOf, duration, isOfTheService } from './waits';

/** A try that is over. */
interface Try {
  readonly batch: readonly FileLine[];
  readonly ticket: PaceTicket;
  /** `moves` of the standstill before it. */
  readonly before: number;
  /** Milliseconds. */
  readonly took: number;
}

/** The service has not applied it, because an earlier line of its matter has to be sent again. */
const SKIPPED = 'SKIPPED_AFTER_FAILURE';
/** Milliseconds for which a service that knows no batches is not asked again. */
const WITHOUT_BATCHES = 60_000;
const NO_VERDICT = toRejected(
  { code: 500, message: '', reason: 'NO_RESULT', requestId: null, errors: [], warnings: [] },
  undefined,
);
/** A shorter first wait is not worth a word. */
const SHORT = 2_000;

/**
 * A rejection that lies in the service costs a line nothing. One that may lie in the line, such as a
 * connection that breaks, counts as a try, unless the service is down or says so itself; which line of a
 * batch it is, is found by sending fewer together.
 */
export class BatchSender {
  readonly #sending: Sending;
  readonly #forAll: ForAllCheck;
  #wasReached = false;
  /** What the service takes, as far as is known. */
  #mostLines = Number.POSITIVE_INFINITY;
  #mostBytes = BATCH_BYTES;
  #noBatchesUntil = Number.NEGATIVE_INFINITY;

  constructor(sending: Sending) {
    this.#sending = sending;
    this.#forAll = new ForAllCheck(sending.askByPost);
  }

  /** Most lines of the next batch. */
  mostLines(): number {
    if (performance.now() < this.#noBatchesUntil) return 1;
    return Math.min(this.#sending.pace.limits().lines, this.#mostLines);
  }

  /** Most bytes of the next batch. */
  mostBytes(): number {
    return this.#mostBytes;
  }

  /**
   * One try. Lines that come to their end are noted.
   *
   * @returns undefined: the run was stopped before the lines got their answer
   * @throws CommandFailure where every other line would fail the same way, where the service was never
   *   reached, or not for `maxWait`
   */
  async send(lines: readonly FileLine[]): Promise<Left | undefined> {
    const { standstill, gate, pace, stop, cut } = this.#sending;
    await standstill.pass(lines[0]?.number ?? 0);
    await gate.pass(stop).catch(() => undefined);
    if (stop.aborted) return undefined;
    // It may have shrunk meanwhile.
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

  /** The first of some lines, as many as the service takes now: one at least. */
  #fitting(lines: readonly FileLine[]): readonly FileLine[] {
    let bytes = 0;
    const end = lines.findIndex(({ size }, n) => {
      bytes += size;
      return n > 0 && (n >= this.mostLines() || bytes > this.mostBytes());
    });
    return end === -1 ? lines : lines.slice(0, end);
  }

  #judge(tried: Try, { whole, lines }: BatchVerdict): Promise<Left> {
    if (!whole) return this.#judgeLines(tried, lines);
    if (tried.batch.length === 1) return this.#judgeLines(tried, [whole]);
    return this.#judgeWhole(tried, whole);
  }

  async #judgeWhole(tried: Try, whole: Rejected): Promise<Left> {
    const { batch } = tried;
    this.#forAll.heard(whole);
    if (takesNoBatches(whole)) {
      this.#noBatchesUntil = performance.now() + WITHOUT_BATCHES;
      // The service is there: nobody else would end a standstill.
      this.#wasReached = true;
      this.#sending.standstill.moved();
      return { again: batch, wait: 0 };
    }
    await this.#forAll.check(whole);
    if (hasTooManyLines(whole)) this.#mostLines = halfOf(batch.length);
    if (hasTooManyBytes(whole)) this.#mostBytes = Math.min(this.#mostBytes, halfOf(bytesOf(batch)));
    // Its lines go in halves, in case it lies in one of them; those behind them are to go more slowly too.
    if (tookTooLong(whole)) this.#sending.pace.refused(tried.ticket);
    this.#wasReached ||= whole.code !== 0;
    const isOfLine = mayLieInOneLine(whole) && (await this.#mayBeALine(whole));
    if (!isOfLine) return this.#refused(tried, batch, whole);
    this.#sending.standstill.moved();
    for (const line of batch) line.company = halfOf(batch.length);
    return this.#again(batch, whole, whole.retryable ? backoff(1, whole.retryAfter) : 0);
  }

  async #judgeLines(tried: Try, verdicts: readonly (Answered | Rejected)[]): Promise<Left> {
    const { ends, retries } = this.#sending;
    const again: FileLine[] = [];
    const rejections: Rejected[] = [];
    let isCounted = false;
    for (const [index, line] of tried.batch.entries()) {
      const verdict = verdicts[index] ?? NO_VERDICT;
      this.#forAll.heard(verdict);
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
      // Only the service decides that a line fails.
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
  ): Left {
    const { standstill, pace } = this.#sending;
    if (hasMoved) {
      this.#wasReached = true;
      standstill.moved();
    }
    // Why the others were skipped.
    const rejection = rejections.find(({ reason }) => reason !== SKIPPED) ?? rejections[0];
    if (rejection) return this.#refused(tried, again, rejection);
    pace.answered(tried.ticket, tried.took);
    return { again, wait: 0 };
  }

  /** It lies in the service, or in lines that have tries left. */
  #refused(tried: Try, again: readonly FileLine[], rejection: Rejected): Left {
    const { standstill, pace, gate, teller } = this.#sending;
    if (isRateLimit(rejection)) {
      gate.pause(rejection.retryAfter ?? backoff(1));
      teller.slowed(causeOf(rejection, this.#sending));
      standstill.moved();
      return this.#again(again, rejection, 0);
    }
    if (isOfTheService(rejection)) pace.refused(tried.ticket);
    const tries = Math.max(...again.map((line) => line.tries));
    if (standstill.moves() !== tried.before) {
      return this.#again(again, rejection, backoff(tries, rejection.retryAfter));
    }
    const left = this.#again(again, rejection, 0);
    this.#stand(tried.batch[0]?.number ?? 0, rejection);
    return left;
  }

  /** @throws CommandFailure where the oldest of them has waited too long */
  #again(again: readonly FileLine[], rejection: Rejected, wait: number): Left {
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

  /** Whether it may lie in a line: not where the service is down, or was never there. */
  async #mayBeALine(rejection: Rejected): Promise<boolean> {
    if (!this.#wasReached || isOfTheService(rejection)) return false;
    return !rejection.retryable || (await this.#sending.askService()) !== 'down';
  }

  /** @throws CommandFailure where the service has never been reached: the address may be wrong */
  #stand(number: number, rejection: Rejected): void {
    const { standstill, teller, retries } = this.#sending;
    const { tries, wait, since } = standstill.rejected(number, rejection.retryAfter);
    if (wait === undefined) return;
    const cause = causeOf(rejection, this.#sending);
    if (!this.#wasReached && tries > retries) throw new CommandFailure(cause);
    if (tries > 1 || wait > SHORT) teller.standing(cause, since, wait);
  }
}

/** Waits, unless the run is stopped. */
export const waitFor = (wait: number, stop: AbortSignal) =>
  sleep(wait, undefined, { signal: stop }).catch(() => undefined);
