/** Keeps the order of each key while keys run side by side, and nearly the order of arrival. */
import { Dispatcher } from './dispatcher';
import type { Line } from './line-order';

export interface KeyOrder {
  /**
   * Waits until those before it of the same key have ended, and for one of the places. Of all that
   * may begin, the one that came first begins first: the work stays near the order of arrival.
   *
   * @param key undefined: it depends on no other
   * @param signal aborted: it waits no longer, and has no turn
   * @returns what ends its turn
   */
  turn(key: string | undefined, signal: AbortSignal): Promise<() => void>;
  /** How many wait for their turn. */
  waiting(): number;
}

/** A turn that somebody waits for, alone. */
export interface Turn extends Line {
  /** @param free gives its place back */
  readonly begin: (free: () => void) => void;
}

/** @param places how many may have their turn at the same time */
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

/** @returns when its place is free again */
export const beginTurn = (turn: Turn | undefined) =>
  new Promise<void>((free) => (turn ? turn.begin(free) : free()));

/**
 * @param signal aborted: it waits no longer, and has no turn
 * @returns what ends its turn
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
      // Whoever hears how this one ended may still take back those behind it.
      resolve(() => void setImmediate(end));
    };
    const { number, key } = line;
    const turn: Turn = { number, key, size: undefined, company: 1, begin };
    signal.addEventListener('abort', leave, { once: true });
    turns.add([turn]);
  });
}
