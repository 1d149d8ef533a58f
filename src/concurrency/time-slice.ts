/** Long work in slices: other requests have their turn between two, whatever it is that takes long. */
import { setImmediate as nextTick } from 'node:timers/promises';

/** Milliseconds of work in one go. */
const LONGEST = 10;

export class TimeSlice {
  private began = performance.now();

  isOver(): boolean {
    return performance.now() - this.began >= LONGEST;
  }

  /** Begins the next one after the others had their turn. */
  async next(): Promise<void> {
    await nextTick();
    this.began = performance.now();
  }
}
