/** Keeps the order of each key while keys run side by side, and nearly the order of arrival. */
import { createLeastFirst } from './least-first';

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

interface Waiter {
  /** Its place in the order of arrival. */
  readonly number: number;
  readonly key: string | undefined;
  readonly begin: () => void;
  /** Its caller gave up: passed over where it stands in the heap. */
  hasLeft: boolean;
  isReady: boolean;
}

/** @param places how many may have their turn at the same time */
export function createKeyOrder(places: number): KeyOrder {
  /** Those whose key is free. */
  const ready = createLeastFirst<Waiter>();
  /** By key that somebody has or is ready for: those behind. */
  const behind = new Map<string, Set<Waiter>>();
  let arrivals = 0;
  let taken = 0;
  let waiting = 0;

  const makeReady = (waiter: Waiter) => {
    waiter.isReady = true;
    ready.add(waiter);
  };
  const add = (waiter: Waiter) => {
    waiting += 1;
    const { key } = waiter;
    const queue = key === undefined ? undefined : behind.get(key);
    if (queue) queue.add(waiter);
    else {
      if (key !== undefined) behind.set(key, new Set());
      makeReady(waiter);
    }
  };
  const free = (key: string | undefined) => {
    if (key === undefined) return;
    const queue = behind.get(key);
    const [next] = queue ?? [];
    if (next === undefined) behind.delete(key);
    else {
      queue?.delete(next);
      makeReady(next);
    }
  };
  const remove = (waiter: Waiter) => {
    waiting -= 1;
    waiter.hasLeft = true;
    if (waiter.isReady) free(waiter.key);
    else if (waiter.key !== undefined) behind.get(waiter.key)?.delete(waiter);
  };
  const beginReady = () => {
    while (taken < places) {
      const waiter = ready.take();
      if (!waiter) return;
      if (waiter.hasLeft) continue;
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
        arrivals += 1;
        const waiter: Waiter = { number: arrivals, key, begin, hasLeft: false, isReady: false };
        signal.addEventListener('abort', leave, { once: true });
        add(waiter);
        beginReady();
      }),
  };
}
