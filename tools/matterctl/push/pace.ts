/** How large batches are and how many are under way: as much as the service takes, and no more. */

export interface PaceLimits {
  /** Lines of a batch. */
  readonly lines: number;
  /** Batches under way. */
  readonly requests: number;
}

/** Milliseconds. A batch that is answered as soon as this leaves room for more. */
const QUICK = 1_000;
/** Milliseconds. One that takes longer waits behind others in the service. */
const SLOW = 4_000;
const FIRST_REQUESTS = 2;
const LESS = 0.7;

/** A batch that goes out; it tells under which pace it went. */
export type PaceTicket = number;

export class Pace {
  readonly #most: PaceLimits;
  #lines: number;
  #requests: number;
  /** Raised with each cut: of those that were under way together, the first tells it all. */
  #cuts = 0;

  constructor(most: PaceLimits) {
    this.#most = most;
    this.#lines = most.lines;
    // Single pushes are as many as they were asked to be: there is nothing to find out.
    this.#requests = most.lines === 1 ? most.requests : Math.min(FIRST_REQUESTS, most.requests);
  }

  limits(): PaceLimits {
    return { lines: Math.floor(this.#lines), requests: Math.floor(this.#requests) };
  }

  begin(): PaceTicket {
    return this.#cuts;
  }

  /** @param took milliseconds to the answer */
  answered(ticket: PaceTicket, took: number): void {
    if (this.#most.lines === 1) return;
    if (took > SLOW) this.#cut(ticket, LESS);
    else if (took < QUICK) this.#grow();
  }

  /** The service has no room for it, or does not work. */
  refused(ticket: PaceTicket): void {
    if (this.#most.lines > 1) this.#cut(ticket, 0.5);
  }

  #cut(ticket: PaceTicket, by: number): void {
    if (ticket !== this.#cuts) return;
    this.#cuts += 1;
    if (this.#requests > 1) this.#requests = Math.max(this.#requests * by, 1);
    else this.#lines = Math.max(this.#lines * by, 1);
  }

  #grow(): void {
    const { lines, requests } = this.#most;
    if (this.#lines < lines) this.#lines = Math.min(this.#lines * 2, lines);
    // One more for each time that as many as are allowed were answered.
    else this.#requests = Math.min(this.#requests + 1 / this.#requests, requests);
  }
}
