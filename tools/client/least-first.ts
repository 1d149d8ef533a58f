/** A binary heap that returns the item with the lowest number first. Each operation takes O(log n). */

interface Numbered {
  readonly number: number;
}

export interface LeastFirst<T> {
  add(item: T): void;
  /** Removes and returns the item with the lowest number; undefined if the heap is empty. */
  take(): T | undefined;
  /** The item that `take` would return. */
  peek(): T | undefined;
}

export function createLeastFirst<T extends Numbered>(): LeastFirst<T> {
  const heap: T[] = [];
  const numberAt = (index: number) => heap[index]?.number ?? Number.POSITIVE_INFINITY;
  const swap = (one: number, other: number) => {
    [heap[one], heap[other]] = [heap[other] as T, heap[one] as T];
  };
  const rise = (from: number) => {
    let index = from;
    for (let parent = (index - 1) >> 1; index > 0; parent = (index - 1) >> 1) {
      if (numberAt(parent) <= numberAt(index)) return;
      swap(index, parent);
      index = parent;
    }
  };
  const sink = (from: number) => {
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const child = numberAt(left + 1) < numberAt(left) ? left + 1 : left;
      if (numberAt(child) >= numberAt(index)) return;
      swap(index, child);
      index = child;
    }
  };
  return {
    add: (item) => {
      heap.push(item);
      rise(heap.length - 1);
    },
    take: () => {
      const [least] = heap;
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return least;
      heap[0] = last;
      sink(0);
      return least;
    },
    peek: () => heap[0],
  };
}
