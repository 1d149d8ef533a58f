/**
 * Holds up a whole run while nothing goes through: one line tries now and then, the lowest, and the
 * others follow once one gets an answer. A service that comes back is not met by all of them at once,
 * and no line uses up its tries on an outage.
 */
import { backoff } from '../../client/backoff';
import { createLeastFirst } from '../../client/least-first';

/** What a rejection means for the run. */
export interface Stand {
  /** How many tries in a row were rejected. */
  readonly tries: number;
  /** Milliseconds until the next try; undefined: it was settled before. */
  readonly wait: number | undefined;
  /** Milliseconds that nothing has moved. */
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
  /** How many tries in a row were rejected; 0: the run moves. */
  #tries = 0;
  #began = 0;
  /** Whose turn it is to try. */
  #trying: number | undefined;
  #isTryFree = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param stop aborted: nobody waits any more */
  constructor(stop: AbortSignal) {
    this.#stop = stop;
    stop.addEventListener('abort', () => this.#releaseAll(), { once: true });
  }

  /** Waits while the run stands still, unless it is this line's turn to try, or the run was stopped. */
  async pass(line: number): Promise<void> {
    if (!this.isStanding() || this.#stop.aborted) return;
    if (this.#isTryFree) {
      this.#isTryFree = false;
      this.#trying = line;
      return;
    }
    await new Promise<void>((go) => this.#waiting.add({ number: line, go }));
  }

  /** A line got an answer: the service works. */
  moved(): void {
    this.#moves += 1;
    if (!this.isStanding()) return;
    this.#tries = 0;
    this.#trying = undefined;
    this.#isTryFree = false;
    this.#releaseAll();
  }

  /** How often something moved: one number at two moments means that nothing did between them. */
  moves(): number {
    return this.#moves;
  }

  /**
   * The line was rejected for what lies in the service, and nothing moved meanwhile. Where the run
   * stands still already and it was not the line's turn to try, that says nothing new.
   *
   * @param atLeast what the service asks to wait, in milliseconds
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
