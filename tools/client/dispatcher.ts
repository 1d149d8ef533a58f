/** Sends waiting lines when the limits allow a request, in the order of `BatchLineOrder`. */
import { type BatchBounds, BatchLineOrder, type Line } from './line-order';

export interface DispatchLimits extends BatchBounds {
  /** Maximum concurrent requests, including batches. */
  readonly requests: number;
  /** Maximum concurrent batches. */
  readonly batches: number;
}

export class Dispatcher<T extends Line> {
  readonly #order = new BatchLineOrder<T>();
  readonly #limits: () => DispatchLimits;
  readonly #begin: (lines: readonly T[]) => Promise<void>;
  #requests = 0;
  #batches = 0;

  /**
   * @param limits called before each request
   * @param begin sends one line or a batch. Its promise resolves when another request may start, and never rejects
   */
  constructor(limits: () => DispatchLimits, begin: (lines: readonly T[]) => Promise<void>) {
    this.#limits = limits;
    this.#begin = begin;
  }

  /** Number of lines that wait for their turn. */
  get waiting(): number {
    return this.#order.waiting;
  }

  /** Adds all lines before it sends, so that they can share a batch. */
  add(lines: readonly T[]): void {
    for (const line of lines) this.#order.add(line);
    this.go();
  }

  /** The lines have ended. Later lines of their keys may be sent. */
  end(lines: readonly T[]): void {
    for (const line of lines) this.#order.end(line);
    this.go();
  }

  /** The lines are sent again, before later lines of their keys. */
  again(lines: readonly T[]): void {
    for (const line of lines) this.#order.again(line);
    this.go();
  }

  /** Removes lines that were aborted before they were sent. */
  leave(lines: readonly T[]): void {
    for (const line of lines) this.#order.leave(line);
    this.go();
  }

  /** Sends all lines that the limits allow. Call it when the limits have risen. */
  go(): void {
    for (;;) {
      const limits = this.#limits();
      if (this.#requests >= limits.requests) return;
      const lines = this.#order.take(this.#batches < limits.batches, limits);
      if (lines.length === 0) return;
      void this.#send(lines);
    }
  }

  async #send(lines: readonly T[]): Promise<void> {
    const batches = lines[0]?.size === undefined ? 0 : 1;
    this.#requests += 1;
    this.#batches += batches;
    await this.#begin(lines);
    this.#requests -= 1;
    this.#batches -= batches;
    this.go();
  }
}
