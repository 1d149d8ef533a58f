/**
 * A line of the file from its first attempt to its result: its key for the order, its size in a batch, its attempts.
 */
import type { Line } from '../../client/line-order';
import { type OutgoingPush, onceInBatch, sizeInBatch } from '../../client/try-pushes';
import type { PushLine } from './push-line';

export class FileLine implements Line {
  readonly number: number;
  readonly key: string | undefined;
  readonly size: number;
  readonly once: string | undefined;
  company = Number.POSITIVE_INFINITY;
  readonly push: OutgoingPush;
  /** Number of attempts. */
  tries = 0;
  /** Number of failed attempts of which the line itself may be the cause. Only these are limited. */
  counted = 0;
  /** Time of the first attempt, in milliseconds of `performance.now`. */
  startedAt: number | undefined;

  /**
   * @param idempotencyKey the key of the push, unless the line has its own
   * @param isOrdered whether the line waits for earlier lines of its matter
   * @param left called when the line has a result, or when the run has stopped
   */
  constructor(
    readonly line: PushLine,
    idempotencyKey: string,
    isOrdered: boolean,
    readonly left: () => void,
  ) {
    const { number, externalId, key, op: operation, body } = line;
    this.number = number;
    this.key = isOrdered ? externalId : undefined;
    this.push = { operation, body, idempotencyKey: key ?? idempotencyKey };
    this.size = sizeInBatch(this.push);
    // Only own keys can be equal. The run gives each line another key.
    this.once = key === undefined ? undefined : onceInBatch(this.push);
  }
}
