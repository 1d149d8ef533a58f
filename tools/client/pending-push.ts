/** A push that may be sent in a batch, from its call to its result. */
import type { PushData } from './answers';
import type { PushResult } from './api';
import type { Call } from './call';
import { MatterPushError, type Rejection } from './error';
import type { Line } from './line-order';
import { type OutgoingPush, onceInBatch, sizeInBatch } from './try-pushes';
import type { Answered } from './verdict';

/** The callbacks for the end of a push. */
export interface PushEnd {
  readonly settled: (result: PushResult | MatterPushError) => void;
  /** @param error the error that the caller's `onRetry` threw */
  readonly failed: (error: unknown) => void;
}

export class PendingPush implements Line {
  readonly size: number;
  readonly once: string;
  company = Number.POSITIVE_INFINITY;
  /** Number of times that the push was sent. */
  tries = 0;
  /** Number of retries, and of retries after 429, which have a separate limit. */
  retried = 0;
  rateLimited = 0;
  /** The last rejection. */
  last: MatterPushError | undefined;
  /** True from its turn until it ends or returns to the queue. Meanwhile no later push of its matter is sent. */
  isTaken = false;
  /** True while a request with this push is running. */
  isSent = false;
  isOver = false;
  /** Called when the push ends. Its batch sets this callback. */
  onOver: (() => void) | undefined;

  constructor(
    readonly number: number,
    readonly key: string | undefined,
    readonly push: OutgoingPush,
    readonly call: Call,
    private readonly onEnd: PushEnd,
  ) {
    this.size = sizeInBatch(push);
    this.once = onceInBatch(push);
  }

  answered({ data, requestId, replayed }: Answered): void {
    this.#end({ ...(data as PushData), requestId, replayed, tries: this.tries });
  }

  /** Stores a rejection, after which the push may be retried. */
  note(why: Rejection): MatterPushError {
    const { tries } = this;
    this.last = new MatterPushError(why, { tries, idempotencyKey: this.push.idempotencyKey });
    return this.last;
  }

  /** Ends the push with a rejection that is final, or after too many retries. */
  rejected(why: MatterPushError): void {
    this.#end(why);
  }

  /** Ends the push without an answer, for example at its deadline. */
  stopped(why: Rejection): void {
    const { tries, last: cause } = this;
    const { idempotencyKey } = this.push;
    this.#end(new MatterPushError(why, { tries, idempotencyKey, cause }));
  }

  failed(error: unknown): void {
    if (this.#isFirst()) this.onEnd.failed(error);
  }

  #end(result: PushResult | MatterPushError): void {
    if (this.#isFirst()) this.onEnd.settled(result);
  }

  #isFirst(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    this.onOver?.();
    return true;
  }
}
