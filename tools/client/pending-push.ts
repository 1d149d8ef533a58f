/** A push that may go in a batch, from its call to its end. */
import type { PushData } from './answers';
import type { PushResult } from './api';
import type { Call } from './call';
import { MatterPushError, type Rejection } from './error';
import type { Line } from './line-order';
import { type OutgoingPush, onceInBatch, sizeInBatch } from './try-pushes';
import type { Answered } from './verdict';

/** What is told when it comes to its end. */
export interface PushEnd {
  readonly settled: (result: PushResult | MatterPushError) => void;
  /** @param error what the caller's own `onRetry` threw */
  readonly failed: (error: unknown) => void;
}

export class PendingPush implements Line {
  readonly size: number;
  readonly once: string;
  company = Number.POSITIVE_INFINITY;
  /** How often it was sent. */
  tries = 0;
  /** Retries that count, and those under the rate. */
  retried = 0;
  rateLimited = 0;
  /** Its last rejection. */
  last: MatterPushError | undefined;
  /** It has its turn: until it ends or comes back, nothing behind it is sent. */
  isTaken = false;
  /** A request that holds it is under way. */
  isSent = false;
  isOver = false;
  /** Told when it is over: the batch that it is in. */
  onOver: (() => void) | undefined;

  constructor(
    readonly number: number,
    readonly key: string | undefined,
    readonly push: OutgoingPush,
    readonly call: Call,
    private readonly told: PushEnd,
  ) {
    this.size = sizeInBatch(push);
    this.once = onceInBatch(push);
  }

  answered({ data, requestId, replayed }: Answered): void {
    this.#end({ ...(data as PushData), requestId, replayed, tries: this.tries });
  }

  /** The service rejected it, for now. */
  note(why: Rejection): MatterPushError {
    const { tries } = this;
    this.last = new MatterPushError(why, { tries, idempotencyKey: this.push.idempotencyKey });
    return this.last;
  }

  /** The service rejected it for good, or has done so too often. */
  rejected(why: MatterPushError): void {
    this.#end(why);
  }

  /** The client itself ends it. */
  stopped(why: Rejection): void {
    const { tries, last: cause } = this;
    const { idempotencyKey } = this.push;
    this.#end(new MatterPushError(why, { tries, idempotencyKey, cause }));
  }

  failed(error: unknown): void {
    if (this.#isFirst()) this.told.failed(error);
  }

  #end(result: PushResult | MatterPushError): void {
    if (this.#isFirst()) this.told.settled(result);
  }

  #isFirst(): boolean {
    if (this.isOver) return false;
    this.isOver = true;
    this.onOver?.();
    return true;
  }
}
