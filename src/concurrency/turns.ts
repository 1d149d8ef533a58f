/** A mutex runs tasks one after the other. Time slices interrupt a long computation, so that other work can run. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Maximum milliseconds of one slice. */
export const LONGEST_SLICE = 10;

/** Resolves when every waiting slice has had its turn of the event loop. */
let turns: Promise<void> = Promise.resolve();

/**
 * Splits long computations into time slices, so that the event loop can serve other requests between two slices. Only
 * one slice of the whole process runs per turn of the event loop. Therefore several concurrent computations block the
 * event loop no longer than one computation does.
 */
export class TimeSlice {
  private began = performance.now();

  isOver(): boolean {
    return performance.now() - this.began >= LONGEST_SLICE;
  }

  /** Waits for all slices that are already waiting, then starts the next slice of this computation. */
  async next(): Promise<void> {
    turns = turns.then(() => nextTurn());
    await turns;
    this.began = performance.now();
  }
}

/** Runs a generator to its end in time slices. When a slice is over, the next step waits for the next slice. */
export async function runInSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  const slice = new TimeSlice();
  let step = steps.next();
  while (!step.done) {
    if (slice.isOver()) await slice.next();
    step = steps.next();
  }
  return step.value;
}

/** Runs one task at a time: a task starts when the previous task has succeeded or failed. */
export interface Mutex {
  <T>(work: () => Promise<T>): Promise<T>;
  /** Whether no task is running or waiting. */
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
