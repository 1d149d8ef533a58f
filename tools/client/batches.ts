/** Sends batches, and decides for each push of a batch whether it has ended or is retried. */
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
  /** Called with pushes that have ended. Later pushes of the same matters may be sent. */
  readonly end: (pushes: readonly PendingPush[]) => void;
  /** Called with pushes to retry. They are sent before later pushes of the same matters. */
  readonly again: (pushes: readonly PendingPush[]) => void;
}

/** The reason of a push that was not applied because an earlier push of its matter failed. */
const SKIPPED = 'SKIPPED_AFTER_FAILURE';
/** Milliseconds without batches after an older version of the service has rejected a batch as unknown. */
const WITHOUT_BATCHES = 60_000;

export class Batches {
  readonly #ways: BatchWays;
  #noBatchesUntil = Number.NEGATIVE_INFINITY;
  /** The limits of the service, as learned from its rejections. */
  #maxLines = Number.POSITIVE_INFINITY;
  #maxBytes = BATCH_BYTES;
  /**
   * Number of lines that the service processes in time. It is halved after a timeout and rises by one after each
   * answer.
   */
  #quickLines = Number.POSITIVE_INFINITY;
  #backingOff = 0;

  constructor(ways: BatchWays) {
    this.#ways = ways;
  }

  /** The known maximum number of lines in a batch; 1 if an older version of the service accepts no batches. */
  maxLines(): number {
    if (performance.now() < this.#noBatchesUntil) return 1;
    return Math.min(this.#maxLines, this.#quickLines);
  }

  /** Number of pushes that wait for their next try. They are in no queue during that time. */
  get backingOff(): number {
    return this.#backingOff;
  }

  /** The known maximum number of bytes in a batch. */
  maxBytes(): number {
    return this.#maxBytes;
  }

  /**
   * Sends a batch once. Pushes with a retryable failure return to the queue after their wait. Until then, no later
   * push of their matters is sent.
   *
   * @returns resolves when the request has ended
   */
  async send(batch: readonly PendingPush[]): Promise<void> {
    for (const push of batch) push.isTaken = true;
    const watch = watchEnd(batch);
    await this.#ways.gate.pass(watch.allOver).catch(() => undefined);
    const sent = batch.filter(({ isOver }) => !isOver);
    const wait = sent.length > 0 ? await this.#try(sent, watch) : 0;
    const ended = batch.filter(({ isOver }) => isOver);
    // Deferred: a caller that receives a failure can then still abort its later pushes of the same matter.
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

  /** @returns milliseconds until the pushes that have not ended are retried */
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

  /** Lowers the limits of later batches, so that they are not rejected for the same cause. */
  #learn(sent: readonly PendingPush[], whole: Rejected): void {
    const half = halfOf(sent.length);
    if (hasTooManyLines(whole)) this.#maxLines = half;
    if (hasTooManyBytes(whole))
      this.#maxBytes = Math.min(this.#maxBytes, halfOf(batchBytesOf(sent)));
    if (tookTooLong(whole)) this.#quickLines = Math.min(this.#quickLines, half);
  }

  /** Retries the pushes in smaller batches, because one of them may have caused the rejection of the whole batch. */
  #halve(sent: readonly PendingPush[], whole: Rejected): number {
    const wait = whole.retryable ? backoff(1, whole.retryAfter) : 0;
    for (const push of sent) {
      push.company = halfOf(sent.length);
      this.#retry(push, push.note(whole), wait);
    }
    return wait;
  }

  /** @returns milliseconds until the next try of the push; 0 if it has ended */
  #rejected(push: PendingPush, verdict: Rejected): number {
    const last = push.note(verdict);
    const isLimited = isRateLimit(verdict);
    if (isLimited) push.rateLimited += 1;
    // The service did not try a skipped push. The earlier push counts its own tries.
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
    // The retry would begin after the deadline, so the call fails now.
    else if (performance.now() + wait >= call.deadline) push.rejected(last);
    if (push.isOver) return;
    try {
      this.#ways.onRetry?.(last, wait);
    } catch (error) {
      push.failed(error);
    }
  }
}

/** Milliseconds before a retry. After 429 it has no jitter, because the gate spreads these retries. */
function waitAfter(verdict: Rejected, nth: number): number {
  const { retryAfter } = verdict;
  if (isRateLimit(verdict) && retryAfter !== undefined) return retryAfter;
  return Math.min(backoff(Math.max(nth, 1), retryAfter), LONGEST_TIMER);
}

interface Watch {
  /** Aborted when all pushes have ended, so that no caller waits for the answer. */
  readonly allOver: AbortSignal;
  /** Stops watching, because the answer has arrived. */
  stop(): void;
}

/** Watches the pushes that have not ended. @param ended called for each push that ends */
function watchEnd(pushes: readonly PendingPush[], ended = () => {}): Watch {
  const all = new AbortController();
  let left = pushes.filter(({ isOver }) => !isOver).length;
  if (left === 0) all.abort();
  const onOver = () => {
    left -= 1;
    ended();
    if (left === 0) all.abort();
  };
  const watch = (listener: typeof onOver | undefined) => {
    for (const push of pushes) push.onOver = listener;
  };
  watch(onOver);
  return { allOver: all.signal, stop: () => watch(undefined) };
}
