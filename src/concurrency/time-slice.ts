/**
 * Long work in slices: other requests have their turn between two, whatever it is that takes long. Of all long work in
 * a process one slice runs in each turn of the event loop, so that much of it at a time blocks no longer than one.
 */
import { setImmediate as nextTick } from 'node:timers/promises';

/** Milliseconds of work in one go. */
export const LONGEST_SLICE = 10;

/** The turns that long work waits for. */
let turns: Promise<void> = Promise.resolve();

export class TimeSlice {
  private began = performance.now();

  isOver(): boolean {
    return performance.now() - this.began >= LONGEST_SLICE;
  }

  /** Begins the next one after the others had their turn. */
  async next(): Promise<void> {
    turns = turns.then(() => nextTick());
    await turns;
    this.began = performance.now();
  }
}

/** Runs a generator to its end, whatever number of its steps makes a slice. */
export async function inSlices<T>(steps: Generator<unknown, T>): Promise<T> {
  const slice = new TimeSlice();
  let step = steps.next();
  while (!step.done) {
    if (slice.isOver()) await slice.next();
    step = steps.next();
  }
  return step.value;
}
