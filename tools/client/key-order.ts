/** Runs work of one key in order, and work of different keys in parallel, started in the order of arrival. */
import { Dispatcher } from './dispatcher';
import type { Line } from './line-order';

export interface KeyOrder {
  /**
   * Waits for the end of all earlier turns of the same key, and for a free place. Of all turns that may begin, the
   * earliest one begins first.
   *
   * @param key undefined: the turn does not depend on other turns
   * @param signal aborted: the wait ends without a turn
   * @returns a function that ends the turn
   */
  turn(key: string | undefined, signal: AbortSignal): Promise<() => void>;
  /** Number of calls that wait for their turn. */
  waiting(): number;
}

/** A turn of work that is sent alone and not in a batch. */
export interface Turn extends Line {
  /** @param free frees the place of the turn */
  readonly begin: (free: () => void) => void;
}

/** @param places maximum concurrent turns */
export function createKeyOrder(places: number): KeyOrder {
  const limits = { requests: places, batches: 0, lines: 1, bytes: 0 };
  const turns = new Dispatcher<Turn>(
    () => limits,
    ([turn]) => beginTurn(turn),
  );
  let arrivals = 0;
  return {
    waiting: () => turns.waiting,
    turn: (key, signal) => {
      arrivals += 1;
      return waitForTurn(turns, { number: arrivals, key }, signal);
    },
  };
}

/** Begins a turn. @returns resolves when its place is free again */
export const beginTurn = (turn: Turn | undefined) =>
  new Promise<void>((free) => (turn ? turn.begin(free) : free()));

/**
 * Waits for a turn.
 *
 * @param signal aborted: the wait ends without a turn
 * @returns a function that ends the turn
 */
export function waitForTurn(
  turns: Pick<Dispatcher<Turn>, 'add' | 'leave' | 'end'>,
  line: Pick<Line, 'number' | 'key'>,
  signal: AbortSignal,
): Promise<() => void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(() => {});
      return;
    }
    const leave = () => {
      turns.leave([turn]);
      resolve(() => {});
    };
    const begin = (free: () => void) => {
      signal.removeEventListener('abort', leave);
      const end = () => {
        turns.end([turn]);
        free();
      };
      // Deferred: a caller that receives a failure can then still abort its later calls of the same key.
      resolve(() => void setImmediate(end));
    };
    const { number, key } = line;
    const turn: Turn = { number, key, size: undefined, company: 1, begin };
    signal.addEventListener('abort', leave, { once: true });
    turns.add([turn]);
  });
}
