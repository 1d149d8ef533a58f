/** A line of the file on its way: what orders it, what it takes of a batch, and how often it was tried. */
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
  /** How often it was sent. */
  tries = 0;
  /** Tries that failed for what may lie in the line. */
  counted = 0;
  /** When it was sent first, in milliseconds of `performance.now`. */
  startedAt: number | undefined;

  /**
   * @param idempotencyKey for a line without a key of its own
   * @param isOrdered whether it waits for the lines of its matter before it
   * @param left told when nothing is done with it any more
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
    // Keys that the run gives are different ones.
    this.once = key === undefined ? undefined : onceInBatch(this.push);
  }
}
