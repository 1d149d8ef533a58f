/** Sends what waits as soon as there is a place for it, in the order that `LineOrder` keeps. */
import { type BatchBounds, BatchLineOrder, type Line } from './line-order';

export interface DispatchLimits extends BatchBounds {
  /** Requests that are under way at the same time. */
  readonly requests: number;
  /** Batches among them. */
  readonly batches: number;
}

export class Dispatcher<T extends Line> {
  readonly #order = new BatchLineOrder<T>();
  readonly #limits: () => DispatchLimits;
  readonly #begin: (lines: readonly T[]) => Promise<void>;
  #requests = 0;
  #batches = 0;

  /**
   * @param limits asked for before each request
   * @param begin sends one line or a batch; resolves, and never rejects, when its place is free
   */
  constructor(limits: () => DispatchLimits, begin: (lines: readonly T[]) => Promise<void>) {
    this.#limits = limits;
    this.#begin = begin;
  }

  /** How many wait for their turn. */
  get waiting(): number {
    return this.#order.waiting;
  }

  /** Lines that come together may go together. */
  add(lines: readonly T[]): void {
    for (const line of lines) this.#order.add(line);
    this.go();
  }

  /** They came to their end: those behind them may go. */
  end(lines: readonly T[]): void {
    for (const line of lines) this.#order.end(line);
    this.go();
  }

  /** They are sent again, before those behind them. */
  again(lines: readonly T[]): void {
    for (const line of lines) this.#order.again(line);
    this.go();
  }

  /** They gave up before they were sent. */
  leave(lines: readonly T[]): void {
    for (const line of lines) this.#order.leave(line);
    this.go();
  }

  /** Sends what may go; to be called when the limits have risen. */
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
