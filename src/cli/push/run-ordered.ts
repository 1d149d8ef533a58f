/**
 * Keeps the order of each key while keys run side by side. Reads ahead no further than a window:
 * a key that waits holds up its own items, not the others, and the memory stays bounded.
 */
export interface Ordering<T> {
  /** Items of one key run one after the other; undefined: the item depends on no other. */
  readonly keyOf: (item: T) => string | undefined;
  /** What an item takes of the window, which is 1. */
  readonly weightOf: (item: T) => number;
  /** How many run at the same time. */
  readonly concurrency: number;
  /** A rejection ends the run. */
  readonly work: (item: T) => Promise<void>;
  /** Once aborted nothing new starts. The run itself aborts it on a failure. */
  readonly stop: AbortController;
}

/**
 * Runs all items of a source.
 *
 * @returns when all that started has ended; after a stop some items may never have started
 * @throws what the source or the first failed work threw, after all that started has ended
 */
export async function runOrdered<T extends object>(
  source: AsyncIterable<T>,
  ordering: Ordering<T>,
) {
  const { stop } = ordering;
  const lanes = createLanes(ordering);
  try {
    for await (const item of source) {
      if (stop.signal.aborted) break;
      lanes.add(item);
      while (lanes.weight() >= 1 && !stop.signal.aborted) await lanes.change();
    }
  } catch (error) {
    lanes.fail(error);
  }
  while (lanes.isBusy()) await lanes.change();
  lanes.throwFailure();
}

function createLanes<T extends object>({ keyOf, weightOf, concurrency, work, stop }: Ordering<T>) {
  /** Items whose key is free, in the order in which they became so. */
  const ready = new Set<T>();
  /** By key that has an item ready or running: the items behind it. */
  const behind = new Map<string, T[]>();
  let running = 0;
  let weight = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};

  const fail = (error: unknown) => {
    failure ??= { error };
    stop.abort(error);
  };
  const release = (item: T) => {
    const key = keyOf(item);
    if (key === undefined) return;
    const next = behind.get(key)?.shift();
    if (next === undefined) behind.delete(key);
    else ready.add(next);
  };
  const start = async (item: T) => {
    ready.delete(item);
    running += 1;
    await work(item).catch(fail);
    running -= 1;
    weight -= weightOf(item);
    release(item);
    startReady();
    wake();
  };
  const startReady = () => {
    for (const item of ready) {
      if (running >= concurrency || stop.signal.aborted) return;
      void start(item);
    }
  };
  // A stop that comes while nothing runs must be noticed too.
  stop.signal.addEventListener('abort', () => wake(), { once: true });

  return {
    add: (item: T) => {
      weight += weightOf(item);
      const key = keyOf(item);
      const queue = key === undefined ? undefined : behind.get(key);
      if (queue) queue.push(item);
      else {
        if (key !== undefined) behind.set(key, []);
        ready.add(item);
        startReady();
      }
    },
    weight: () => weight,
    isBusy: () => running > 0 || (ready.size > 0 && !stop.signal.aborted),
    /** Resolves at the next end of an item, or when stopped. */
    change: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
    fail,
    throwFailure: () => {
      if (failure) throw failure.error;
    },
  };
}
