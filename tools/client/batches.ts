/** Pushes in batches: each try of one, and what each of its pushes needs next. */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from './backoff';
import { LONGEST_TIMER } from './call';
import type { MatterPushError } from './error';
import type { PendingPush } from './pending-push';
import { MAX_RATE_LIMITED, type Ways } from './settle';
import {
  BATCH_BYTES,
  batchBytesOf,
  halfOf,
  hasTooManyBytes,
  hasTooManyLines,
  mayLieInOneLine,
  takesNoBatches,
  tookTooLong,
  tryPushes,
} from './try-pushes';
import { isRateLimit, type Rejected } from './verdict';

export interface BatchWays extends Ways {
  /** They came to their end: those behind them may go. */
  readonly end: (pushes: readonly PendingPush[]) => void;
  /** They are to be sent again, before those behind them. */
  readonly again: (pushes: readonly PendingPush[]) => void;
}

/** The service has not applied it, because an earlier push of its matter has to be sent again. */
const SKIPPED = 'SKIPPED_AFTER_FAILURE';
/** Milliseconds for which a service that knows no batches is not asked again. */
const WITHOUT_BATCHES = 60_000;

export class Batches {
  readonly #ways: BatchWays;
  #noBatchesUntil = Number.NEGATIVE_INFINITY;
  /** What the service takes, as far as is known. */
  #mostLines = Number.POSITIVE_INFINITY;
  #mostBytes = BATCH_BYTES;
  /** With how many it keeps up: less after each batch that took too long, and one more after each that was answered. */
  #quickLines = Number.POSITIVE_INFINITY;
  #backingOff = 0;

  constructor(ways: BatchWays) {
    this.#ways = ways;
  }

  /** Most lines of a batch, as far as is known: an older version of the service takes no batches. */
  mostLines(): number {
    if (performance.now() < this.#noBatchesUntil) return 1;
    return Math.min(this.#mostLines, this.#quickLines);
  }

  /** How many pushes wait for their next try, and are in no queue meanwhile. */
  get backingOff(): number {
    return this.#backingOff;
  }

  /** Most bytes of a batch, as far as is known. */
  mostBytes(): number {
    return this.#mostBytes;
  }

  /**
   * One try of a batch. What is retryable comes back after its wait; until then nothing else of its
   * matters is sent.
   *
   * @returns when the request is through
   */
  async send(batch: readonly PendingPush[]): Promise<void> {
    for (const push of batch) push.isTaken = true;
    const watch = watchEnd(batch);
    await this.#ways.gate.pass(watch.allOver).catch(() => undefined);
    const sent = batch.filter(({ isOver }) => !isOver);
    const wait = sent.length > 0 ? await this.#try(sent, watch) : 0;
    const ended = batch.filter(({ isOver }) => isOver);
    // Whoever hears how one ended may still take back those behind it.
    if (ended.length > 0) setImmediate(() => this.#ways.end(ended));
    const again = batch.filter(({ isOver }) => !isOver);
    if (again.length > 0) void this.#sendAgain(again, wait);
  }

  async #sendAgain(pushes: readonly PendingPush[], wait: number): Promise<void> {
    this.#backingOff += pushes.length;
    const watch = watchEnd(pushes, () => {
      this.#backingOff -= 1;
    });
    if (wait > 0) await sleep(wait, undefined, { signal: watch.allOver }).catch(() => undefined);
    watch.stop();
    const again = pushes.filter(({ isOver }) => !isOver);
    this.#backingOff -= again.length;
    for (const push of again) push.isTaken = false;
    this.#ways.end(pushes.filter(({ isOver }) => isOver));
    this.#ways.again(again);
  }

  /** @returns milliseconds until those that did not come to their end are sent again */
  async #try(sent: readonly PendingPush[], watch: Watch): Promise<number> {
    for (const push of sent) {
      push.tries += 1;
      push.isSent = true;
    }
    const outgoing = sent.map(({ push }) => push);
    const { whole, lines } = await tryPushes(outgoing, this.#ways.sender, watch.allOver);
    watch.stop();
    for (const push of sent) push.isSent = false;
    if (whole && sent.length > 1) {
      if (takesNoBatches(whole)) return this.#goWithoutBatches();
      this.#learn(sent, whole);
      if (mayLieInOneLine(whole)) return this.#halve(sent, whole);
    }
    if (lines?.some(({ kind }) => kind === 'answered')) this.#quickLines += 1;
    const waits = sent.map((push, index) => {
      const verdict = whole ?? lines[index];
      if (verdict?.kind === 'answered') push.answered(verdict);
      return verdict?.kind === 'rejected' ? this.#rejected(push, verdict) : 0;
    });
    return Math.max(...waits);
  }

  #goWithoutBatches(): number {
    this.#noBatchesUntil = performance.now() + WITHOUT_BATCHES;
    return 0;
  }

  /** What others are not to meet too. */
  #learn(sent: readonly PendingPush[], whole: Rejected): void {
    const half = halfOf(sent.length);
    if (hasTooManyLines(whole)) this.#mostLines = half;
    if (hasTooManyBytes(whole))
      this.#mostBytes = Math.min(this.#mostBytes, halfOf(batchBytesOf(sent)));
    if (tookTooLong(whole)) this.#quickLines = Math.min(this.#quickLines, half);
  }

  /** One of them may be the cause: which one is found by sending fewer together. */
  #halve(sent: readonly PendingPush[], whole: Rejected): number {
    const wait = whole.retryable ? backoff(1, whole.retryAfter) : 0;
    for (const push of sent) {
      push.company = halfOf(sent.length);
      this.#retry(push, push.note(whole), wait);
    }
    return wait;
  }

  /** @returns milliseconds until its next try */
  #rejected(push: PendingPush, verdict: Rejected): number {
    const last = push.note(verdict);
    const isLimited = isRateLimit(verdict);
    if (isLimited) push.rateLimited += 1;
    // It was not tried: the push before it counts its tries.
    else if (verdict.reason !== SKIPPED) push.retried += 1;
    const { retries, gate } = this.#ways;
    const isTooOften = push.retried > retries || push.rateLimited > MAX_RATE_LIMITED;
    if (!verdict.retryable || isTooOften) push.rejected(last);
    if (push.isOver) return 0;
    const wait = waitAfter(verdict, isLimited ? Math.min(push.rateLimited, 5) : push.retried);
    if (isLimited) gate.pause(wait);
    this.#retry(push, last, wait);
    return isLimited ? 0 : wait;
  }

  #retry(push: PendingPush, last: MatterPushError, wait: number): void {
    const { call } = push;
    if (call.stopped.aborted) push.stopped(call.stopped.reason);
    // It would not be sent again in time: better told now than then.
    else if (performance.now() + wait >= call.deadline) push.rejected(last);
    if (push.isOver) return;
    try {
      this.#ways.onRetry?.(last, wait);
    } catch (error) {
      push.failed(error);
    }
  }
}

/** Milliseconds. The gate spreads those that were told to slow down, so they need no jitter. */
function waitAfter(verdict: Rejected, nth: number): number {
  const { retryAfter } = verdict;
  if (isRateLimit(verdict) && retryAfter !== undefined) return retryAfter;
  return Math.min(backoff(Math.max(nth, 1), retryAfter), LONGEST_TIMER);
}

interface Watch {
  /** Aborted once all of them are over: nobody waits for their answer any more. */
  readonly allOver: AbortSignal;
  /** It came: what ends from now on cuts nothing off. */
  stop(): void;
}

/** @param ended told of each that ends */
function watchEnd(pushes: readonly PendingPush[], ended = () => {}): Watch {
  const all = new AbortController();
  let left = pushes.filter(({ isOver }) => !isOver).length;
  if (left === 0) all.abort();
  const onOver = () => {
    left -= 1;
    ended();
    if (left === 0) all.abort();
  };
  const watch = (told: typeof onOver | undefined) => {
    for (const push of pushes) push.onOver = told;
  };
  watch(onOver);
  return { allOver: all.signal, stop: () => watch(undefined) };
}
