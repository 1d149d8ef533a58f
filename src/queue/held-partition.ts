/** Applies the pushes of a partition in batches, while the job of the partition is active in this worker. */
import { BatchAbandoned, type BatchRunner } from './batch-runner';

export class HeldPartition {
  /** A notification has arrived since the last `nextNotification`. */
  private isNotified = false;
  private resolveWait: (() => void) | undefined;
  private waitingSince = performance.now();
  private isReleaseRequested = false;

  constructor(private readonly partition: number) {}

  notify(): void {
    this.isNotified = true;
    this.resolveWait?.();
  }

  /** Ends `work` after the current batch. */
  requestRelease(): void {
    this.isReleaseRequested = true;
    this.notify();
  }

  /** Milliseconds of the current wait for a notification; 0 if there is no wait. */
  idleTime(): number {
    return this.resolveWait ? performance.now() - this.waitingSince : 0;
  }

  /** @returns `LOST` if this worker does not own the partition; otherwise the condition for its release */
  async work(runner: BatchRunner): Promise<'LOST' | 'ALL' | 'FAILED'> {
    const { partition } = this;
    let isTaken = true;
    try {
      while (!this.isReleaseRequested) {
        const left = await runner.run({ partition, isTaken });
        isTaken = false;
        if (left === 'LOST') return 'LOST';
        if (left === 0) await this.nextNotification();
      }
      return 'ALL';
    } catch (error) {
      if (error instanceof BatchAbandoned) return 'FAILED';
      throw error;
    }
  }

  /** Resolves at once if a notification has arrived since the last call; otherwise, at the next notification. */
  private async nextNotification(): Promise<void> {
    this.waitingSince = performance.now();
    if (!this.isNotified) {
      await new Promise<void>((resolve) => {
        this.resolveWait = resolve;
      });
      this.resolveWait = undefined;
    }
    this.isNotified = false;
  }
}
