/**
 * Works on many items at the same time, but keeps the order of items with the same key. It reads ahead up to a limit.
 */
import { setMaxListeners } from 'node:events';
import { createKeyOrder } from '../client/key-order';

export interface Ordering<T> extends OrderedReading<T> {
  /** Items with the same key run one after the other. An item without a key depends on no other item. */
  readonly keyOf: (item: T) => string | undefined;
  /** Maximum items that run at the same time. */
  readonly concurrency: number;
}

/**
 * Runs all items of a source. It resolves when all started items have ended. After a stop, some items never start.
 *
 * @throws the error of the source or of the first item that failed, after all started items have ended
 */
export function runOrdered<T>(
  source: AsyncIterable<T>,
  { keyOf, concurrency, work, weightOf, stop }: Ordering<T>,
): Promise<void> {
  const order = createKeyOrder(concurrency);
  // Every waiting item listens to the signal, so there can be more listeners than the default limit.
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

/**
 * How items of a source are read and worked on. Items that wait do not delay others, and at most a window of items is
 * in memory.
 */
export interface OrderedReading<T> {
  /** The share of the window that an item takes. The next item is read while the sum of the shares is below 1. */
  readonly weightOf: (item: T) => number;
  /** Works on an item. If it rejects, the run ends. */
  readonly work: (item: T) => Promise<void>;
  /** After its abort, no further item is read. The run aborts it when an item fails. */
  readonly stop: AbortController;
}

/**
 * Resolves when all started work has ended.
 *
 * @throws the error of the source or of the first work that failed, after all started work has ended
 */
export async function readAhead<T>(
  source: AsyncIterable<T>,
  { weightOf, work, stop }: OrderedReading<T>,
): Promise<void> {
  let weight = 0;
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  // Resolves when the next item ends, or at the stop.
  const change = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  const fail = (error: unknown) => {
    failure ??= { error };
    stop.abort(error);
  };
  const start = async (item: T) => {
    running += 1;
    weight += weightOf(item);
    await work(item).catch(fail);
    weight -= weightOf(item);
    running -= 1;
    wake();
  };
  stop.signal.addEventListener('abort', () => wake(), { once: true });
  try {
    for await (const item of source) {
      if (stop.signal.aborted) break;
      void start(item);
      while (weight >= 1 && !stop.signal.aborted) await change();
    }
  } catch (error) {
    fail(error);
  }
  while (running > 0) await change();
  if (failure) throw failure.error;
}
