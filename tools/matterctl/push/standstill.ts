/**
 * Stops a whole run while the service accepts no line. Meanwhile only the first waiting line is tried from time to
 * time. When a line gets an answer, all lines continue. So a service that recovers does not get all lines at once, and
 * no line uses up its retries during an outage.
 */
import { backoff } from '../../client/backoff';
import { createLeastFirst } from '../../client/least-first';

/** What a rejection means for the run. */
export interface Stand {
  /** Number of consecutive rejected attempts. */
  readonly tries: number;
  /** Milliseconds until the next attempt; undefined if another line has already scheduled it. */
  readonly wait: number | undefined;
  /** Milliseconds since the run stands still. */
  readonly since: number;
}

interface Waiter {
  readonly number: number;
  readonly go: () => void;
}

export class Standstill {
  readonly #stop: AbortSignal;
  readonly #waiting = createLeastFirst<Waiter>();
  #moves = 0;
  /** Number of consecutive rejected attempts; 0: the run does not stand still. */
  #tries = 0;
  #began = 0;
  /** The line that makes the next attempt. */
  #trying: number | undefined;
  #isTryFree = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param stop after its abort, no line waits */
  constructor(stop: AbortSignal) {
    this.#stop = stop;
    stop.addEventListener('abort', () => this.#releaseAll(), { once: true });
  }

  /** Waits while the run stands still, unless this line makes the next attempt or the run is stopped. */
  async pass(line: number): Promise<void> {
    if (!this.isStanding() || this.#stop.aborted) return;
    if (this.#isTryFree) {
      this.#isTryFree = false;
      this.#trying = line;
      return;
    }
    await new Promise<void>((go) => this.#waiting.add({ number: line, go }));
  }

  /** A line got an answer, so the service works and the run continues. */
  moved(): void {
    this.#moves += 1;
    if (!this.isStanding()) return;
    this.#tries = 0;
    this.#trying = undefined;
    this.#isTryFree = false;
    this.#releaseAll();
  }

  /** Number of calls of `moved`. If it is the same at two times, no line got an answer in between. */
  moves(): number {
    return this.#moves;
  }

  /**
   * The line was rejected because of the service, and no other line got an answer meanwhile. If the run stands still
   * already and another line makes the next attempt, this changes nothing.
   *
   * @param atLeast milliseconds that the service wants the caller to wait (Retry-After)
   */
  rejected(line: number, atLeast: number | undefined): Stand {
    const now = performance.now();
    if (this.isStanding() && this.#trying !== line) {
      return { tries: this.#tries, wait: undefined, since: now - this.#began };
    }
    if (!this.isStanding()) this.#began = now;
    this.#tries += 1;
    this.#trying = undefined;
    const wait = backoff(this.#tries, atLeast);
    if (!this.#stop.aborted) this.#timer = setTimeout(() => this.#letOneTry(), wait);
    return { tries: this.#tries, wait, since: now - this.#began };
  }

  isStanding(): boolean {
    return this.#tries > 0;
  }

  #letOneTry(): void {
    const next = this.#waiting.take();
    this.#trying = next?.number;
    this.#isTryFree = next === undefined;
    next?.go();
  }

  #releaseAll(): void {
    clearTimeout(this.#timer);
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) next.go();
  }
}
