/**
 * Limits the batch lines of a client in flight while other clients send single pushes. Without the limit, batches
 * would delay the single pushes (contract 7.4, docs/notes/batch-window.md).
 */

/**
 * Batch lines of a client that may be in flight (the window). If other clients have more single pushes in flight, the
 * window is the number of these single pushes.
 */
const WINDOW = 32;
/** Number of parts that fit into the window. */
const PARTS = 2;
/** Minimum lines of a part, except the last part of a batch. Smaller parts cost too many round trips. */
const MIN_PART = 12;
/**
 * Maximum milliseconds for which the lines of a part count as in flight. A dead worker must not block the next
 * lines.
 */
const MAX_PART_TIME = 500;
/** Milliseconds for which an ended single push still limits the batches of other clients. */
const ACTIVE_TIME = 10_000;

/** Lines of a batch that are recorded and queued together. */
export interface Part {
  /** At least one. */
  readonly lines: number;
  /** Must be called when the lines are no longer in flight. */
  release(): void;
}

export interface WindowAccess {
  /**
   * Waits until the next lines of the batch fit into the window.
   *
   * @param timeout milliseconds after which all remaining lines of the batch start
   */
  take(timeout: number): Promise<Part>;
  /** Must be called once, when the request has ended. */
  leave(): void;
}

interface Singles {
  inFlight: number;
  /** Time of `clock` at which the last single push ended. */
  lastEndedAt: number;
}

const SINGLE: Part = { lines: 1, release: () => {} };

interface WaitingBatch {
  readonly clientId: string;
  readonly lines: number;
  readonly start: (lines: number) => void;
}

export class BatchWindow {
  private readonly singles = new Map<string, Singles>();
  /** The batch that has waited longest comes first. */
  private readonly waiting = new Set<WaitingBatch>();
  /** Lines in flight, by client. */
  private readonly inFlight = new Map<string, number>();
  /** Number of batch lines that have not started yet. */
  linesWaiting = 0;

  /** @param clock monotonic, milliseconds */
  constructor(private readonly clock: () => number) {}

  /** @param lines number of lines of a batch, at least one; undefined: a single push */
  enter(clientId: string, lines?: number): WindowAccess {
    return lines === undefined ? this.enterSingle(clientId) : this.enterBatch(clientId, lines);
  }

  private enterSingle(clientId: string): WindowAccess {
    const singles = this.singles.get(clientId) ?? { inFlight: 0, lastEndedAt: 0 };
    singles.inFlight += 1;
    this.singles.set(clientId, singles);
    const leave = () => {
      singles.inFlight -= 1;
      singles.lastEndedAt = this.clock();
    };
    return { take: async () => SINGLE, leave };
  }

  private enterBatch(clientId: string, lines: number): WindowAccess {
    let left = lines;
    const noteStarted = (count: number) => {
      const started = Math.min(count, left);
      left -= started;
      this.linesWaiting -= started;
    };
    this.linesWaiting += lines;
    return {
      take: async (timeout) => {
        const part = await this.take(clientId, left, timeout);
        noteStarted(part.lines);
        return part;
      },
      leave: () => noteStarted(left),
    };
  }

  private take(clientId: string, lines: number, timeout: number): Promise<Part> {
    return new Promise((resolve) => {
      const start = (granted: number) => {
        clearTimeout(timer);
        this.waiting.delete(waiting);
        resolve(this.start(clientId, granted));
      };
      const timer = setTimeout(() => start(lines), Math.max(0, timeout));
      const waiting = { clientId, lines, start };
      this.waiting.add(waiting);
      // If no time is left, the timer starts all lines.
      if (timeout > 0) this.grant();
    });
  }

  private start(clientId: string, lines: number): Part {
    this.count(clientId, lines);
    let isOver = false;
    const release = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.count(clientId, -lines);
      this.grant();
    };
    const timer = setTimeout(release, MAX_PART_TIME);
    return { lines, release };
  }

  private count(clientId: string, lines: number): void {
    const inFlight = (this.inFlight.get(clientId) ?? 0) + lines;
    if (inFlight > 0) this.inFlight.set(clientId, inFlight);
    else this.inFlight.delete(clientId);
  }

  private grant(): void {
    const full = new Set<string>();
    for (const { clientId, lines, start } of this.waiting) {
      if (full.has(clientId)) continue;
      const granted = Math.min(lines, this.roomOf(clientId));
      if (granted < Math.min(lines, MIN_PART)) full.add(clientId);
      else start(granted);
    }
  }

  private roomOf(clientId: string): number {
    const since = this.clock() - ACTIVE_TIME;
    let others: number | undefined;
    for (const [id, { inFlight, lastEndedAt }] of this.singles) {
      if (inFlight === 0 && lastEndedAt < since) this.singles.delete(id);
      else if (id !== clientId) others = (others ?? 0) + inFlight;
    }
    if (others === undefined) return Number.POSITIVE_INFINITY;
    const window = Math.max(WINDOW, others);
    const free = window - (this.inFlight.get(clientId) ?? 0);
    return Math.min(free, Math.floor(window / PARTS));
  }
}
