/** Keeps the order of each key while keys run side by side, reading ahead no further than a window. */
import { setMaxListeners } from 'node:events';
import { createKeyOrder } from '../client/key-order';

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

/**
 * Works on the items of a source as they come, and reads ahead no further than a window: what waits
 * holds up nothing but itself, and the memory stays bounded.
 */
export interface Reading<T> {
  /** What an item takes of the window, which is 1. */
  readonly weightOf: (item: T) => number;
  /** A rejection ends the run. */
  readonly work: (item: T) => Promise<void>;
  /** Once aborted nothing new is read. The run itself aborts it on a failure. */
  readonly stop: AbortController;
}

/**
 * @returns when all work that began has ended
 * @throws what the source or the first failed work threw, after all that began has ended
 */
export async function readAhead<T>(
  source: AsyncIterable<T>,
  { weightOf, work, stop }: Reading<T>,
): Promise<void> {
  let weight = 0;
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  // Resolves at the next end of an item, or when stopped.
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
