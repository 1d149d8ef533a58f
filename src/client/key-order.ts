/** Keeps the order of each key while keys run side by side. */

export interface KeyOrder {
  /**
   * Waits until those before it of the same key have ended, and for one of the places.
   *
   * @param key undefined: it depends on no other
   * @param signal aborted: it waits no longer, and has no turn
   * @returns what ends its turn
   */
  turn(key: string | undefined, signal: AbortSignal): Promise<() => void>;
  /** How many wait for their turn. */
  waiting(): number;
}

interface Waiter {
  readonly key: string | undefined;
  readonly begin: () => void;
}

/** @param places how many may have their turn at the same time */
export function createKeyOrder(places: number): KeyOrder {
  /** Those whose key is free, in the order in which it became so. */
  const ready = new Set<Waiter>();
  /** By key that somebody has or is ready for: those behind. */
  const behind = new Map<string, Set<Waiter>>();
  let taken = 0;
  let waiting = 0;

  const add = (waiter: Waiter) => {
    waiting += 1;
    const { key } = waiter;
    const queue = key === undefined ? undefined : behind.get(key);
    if (queue) queue.add(waiter);
    else {
      if (key !== undefined) behind.set(key, new Set());
      ready.add(waiter);
    }
  };
  const free = (key: string | undefined) => {
    if (key === undefined) return;
    const queue = behind.get(key);
    const [next] = queue ?? [];
    if (next === undefined) behind.delete(key);
    else {
      queue?.delete(next);
      ready.add(next);
    }
  };
  const remove = (waiter: Waiter) => {
    waiting -= 1;
    if (ready.delete(waiter)) free(waiter.key);
    else if (waiter.key !== undefined) behind.get(waiter.key)?.delete(waiter);
  };
  const beginReady = () => {
    for (const waiter of ready) {
      if (taken >= places) return;
      ready.delete(waiter);
      waiting -= 1;
      taken += 1;
      waiter.begin();
    }
  };
  const end = (key: string | undefined) => {
    taken -= 1;
    free(key);
    beginReady();
  };
  return {
    waiting: () => waiting,
    turn: (key, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) {
          resolve(() => {});
          return;
        }
        const leave = () => {
          remove(waiter);
          beginReady();
          resolve(() => {});
        };
        const begin = () => {
          signal.removeEventListener('abort', leave);
          // Whoever hears how this one ended may still take back those behind it.
          resolve(() => void setImmediate(end, key));
        };
        const waiter: Waiter = { key, begin };
        signal.addEventListener('abort', leave, { once: true });
        add(waiter);
        beginReady();
      }),
  };
}
