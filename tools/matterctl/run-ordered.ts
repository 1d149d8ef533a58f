/** Keeps the order of each key while keys run side by side, reading ahead no further than a window. */
import { setMaxListeners } from 'node:events';
import { createKeyOrder } from '../client/key-order';
import { type Reading, readAhead } from './read-ahead';

export interface Ordering<T> extends Reading<T> {
  /** Items of one key run one after the other; undefined: the item depends on no other. */
  readonly keyOf: (item: T) => string | undefined;
  /** How many run at the same time. */
  readonly concurrency: number;
}

/**
 * Runs all items of a source.
 *
 * @returns when all that started has ended; after a stop some items may never have started
 * @throws what the source or the first failed work threw, after all that started has ended
 */
export function runOrdered<T>(
  source: AsyncIterable<T>,
  { keyOf, concurrency, work, weightOf, stop }: Ordering<T>,
): Promise<void> {
  const order = createKeyOrder(concurrency);
  // Every item that waits listens to it.
  setMaxListeners(0, stop.signal);
  const inTurn = async (item: T) => {
    const endTurn = await order.turn(keyOf(item), stop.signal);
    try {
      if (!stop.signal.aborted) await work(item);
    } finally {
      endTurn();
    }
  };
  return readAhead(source, { weightOf, work: inTurn, stop });
}
