/**
 * Holds up a whole run while nothing goes through: one line tries now and then, the lowest, and the
 * others follow once one gets an answer. A service that comes back is not met by all of them at once,
 * and no line uses up its tries on an outage.
 */
import { backoff } from '../../client/backoff';
import { createLeastFirst } from '../../client/least-first';

export interface Standstill {
  /** Waits while the run stands still, unless it is this line's turn to try, or the run was stopped. */
  pass(line: number): Promise<void>;
  /** A line got an answer: the service works. */
  moved(): void;
  /** How often something moved: one number at two moments means that nothing did between them. */
  moves(): number;
  /**
   * The line was rejected for what lies in the service, and nothing moved meanwhile. Where the run
   * stands still already and it was not the line's turn to try, that says nothing new.
   *
   * @param atLeast what the service asks to wait, in milliseconds
   */
  rejected(line: number, atLeast: number | undefined): Stand;
  isStanding(): boolean;
}

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

/** @param stop aborted: nobody waits any more */
export function createStandstill(stop: AbortSignal): Standstill {
  const waiting = createLeastFirst<Waiter>();
  let moves = 0;
  /** How many tries in a row were rejected; 0: the run moves. */
  let tries = 0;
  let began = 0;
  /** Whose turn it is to try. */
  let trying: number | undefined;
  let isTryFree = false;
  let timer: NodeJS.Timeout | undefined;

  const releaseAll = () => {
    clearTimeout(timer);
    for (let next = waiting.take(); next; next = waiting.take()) next.go();
  };
  const letOneTry = () => {
    const next = waiting.take();
    trying = next?.number;
    isTryFree = next === undefined;
    next?.go();
  };
  stop.addEventListener('abort', releaseAll, { once: true });
  return {
    pass: async (number) => {
      if (tries === 0 || stop.aborted) return;
      if (isTryFree) {
        isTryFree = false;
        trying = number;
        return;
      }
      await new Promise<void>((go) => waiting.add({ number, go }));
    },
    moved: () => {
      moves += 1;
      if (tries === 0) return;
      tries = 0;
      trying = undefined;
      isTryFree = false;
      releaseAll();
    },
    moves: () => moves,
    rejected: (line, atLeast) => {
      const now = performance.now();
      if (tries > 0 && trying !== line) return { tries, wait: undefined, since: now - began };
      if (tries === 0) began = now;
      tries += 1;
      trying = undefined;
      const wait = backoff(tries, atLeast);
      if (!stop.aborted) timer = setTimeout(letOneTry, wait);
      return { tries, wait, since: now - began };
    },
    isStanding: () => tries > 0,
  };
}
