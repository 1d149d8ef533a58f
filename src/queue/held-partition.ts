/** A partition that this worker holds: rung when it has pushes, let go when it has had none for a while. */
export class HeldPartition {
  /** A ring that came while nobody waited for it. */
  private isRung = false;
  private wake: (() => void) | undefined;
  private since = performance.now();
  /** It is to be let go of, with what is left in it. */
  isLetGo = false;

  /** There may be pushes. */
  ring(): void {
    this.isRung = true;
    this.wake?.();
  }

  /** Nothing more is done for it after the batch that is under way. */
  letGo(): void {
    this.isLetGo = true;
    this.ring();
  }

  /** Resolves at once where it was rung since the last time. */
  async nextRing(): Promise<void> {
    this.since = performance.now();
    if (!this.isRung) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = undefined;
    }
    this.isRung = false;
  }

  /** Milliseconds for which nobody has rung; 0 while it is worked on. */
  idle(): number {
    return this.wake ? performance.now() - this.since : 0;
  }
}
