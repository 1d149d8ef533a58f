/** Splits long computations into time slices, and runs tasks one after the other. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds after which a slice is over. */
export const LONGEST_SLICE = 10;

let turns: Promise<void> = Promise.resolve();

/**
 * Pauses a long computation between slices, so that requests can run. In each turn of the event loop, only one
 * computation continues.
 */
export class TimeSlice {
  private began = performance.now();

  isOver(): boolean {
    return performance.now() - this.began >= LONGEST_SLICE;
  }

  async next(): Promise<void> {
    turns = turns.then(() => nextTurn());
    await turns;
    this.began = performance.now();
  }
}

export async function runInSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  const slice = new TimeSlice();
  let step = steps.next();
  while (!step.done) {
    if (slice.isOver()) await slice.next();
    step = steps.next();
  }
  return step.value;
}

/** Runs one task at a time. */
export interface Mutex {
  <T>(work: () => Promise<T>): Promise<T>;
  isFree(): boolean;
}

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve();
  let unfinished = 0;
  const run = <T>(work: () => Promise<T>): Promise<T> => {
    unfinished += 1;
    const result = last.then(work).finally(() => {
      unfinished -= 1;
    });
    last = result.catch(() => undefined);
    return result;
  };
  return Object.assign(run, { isFree: () => unfinished === 0 });
}
