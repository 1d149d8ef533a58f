/** Adapts the size and the number of concurrent batches to what the service can process. */

export interface PaceLimits {
  /** Maximum lines of a batch. */
  readonly lines: number;
  /** Maximum concurrent batches. */
  readonly requests: number;
}

/** Milliseconds. If a batch takes less, the service can process more. */
const QUICK = 1_000;
/** Milliseconds. If a batch takes longer, it waits behind other pushes in the service. */
const SLOW = 4_000;
const FIRST_REQUESTS = 2;
const LESS = 0.7;

/** Identifies the limits under which a batch was sent. */
export type PaceTicket = number;

export class Pace {
  readonly #max: PaceLimits;
  #lines: number;
  #requests: number;
  /**
   * Number of reductions. Of the batches that were sent under the same limits, only the first slow one reduces them.
   */
  #cuts = 0;

  constructor(max: PaceLimits) {
    this.#max = max;
    this.#lines = max.lines;
    // Single pushes use the full concurrency that the user has set. Their number does not adapt.
    this.#requests = max.lines === 1 ? max.requests : Math.min(FIRST_REQUESTS, max.requests);
  }

  limits(): PaceLimits {
    return { lines: Math.floor(this.#lines), requests: Math.floor(this.#requests) };
  }

  begin(): PaceTicket {
    return this.#cuts;
  }

  /** @param took milliseconds to the answer */
  answered(ticket: PaceTicket, took: number): void {
    if (this.#max.lines === 1) return;
    if (took > SLOW) this.#cut(ticket, LESS);
    else if (took < QUICK) this.#grow();
  }

  /** The service has rejected the batch because of load, or because a server is unavailable. */
  rejected(ticket: PaceTicket): void {
    if (this.#max.lines > 1) this.#cut(ticket, 0.5);
  }

  #cut(ticket: PaceTicket, by: number): void {
    if (ticket !== this.#cuts) return;
    this.#cuts += 1;
    if (this.#requests > 1) this.#requests = Math.max(this.#requests * by, 1);
    else this.#lines = Math.max(this.#lines * by, 1);
  }

  #grow(): void {
    const { lines, requests } = this.#max;
    if (this.#lines < lines) this.#lines = Math.min(this.#lines * 2, lines);
    // One more after as many answers as there may be concurrent batches.
    else this.#requests = Math.min(this.#requests + 1 / this.#requests, requests);
  }
}
