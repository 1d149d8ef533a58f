/**
 * Keeps batches from delaying the single pushes of other clients (decisions, "Batches"): while others push, few
 * lines of a client are under way at a time, and the rest of its batches waits here, before the log, where it is in
 * nobody's way. A client that is alone sends its batches through whole. Each web process judges by its own pushes.
 */

/** Lines of a client that may be under way beside others whatever they cost: a worker applies them within milliseconds. */
const MIN_LINES = 32;
const MAX_LINES = 1_000;
/** Parts of the window: one is recorded while another one is applied. */
const PARTS = 2;
/** Fewer lines, where there are more, wait for company: each part costs a round trip to each server. */
const CRUMBS = 12;
/** Times the quickest part: one that took longer waited for other lines, or made others wait. */
const SLOWDOWN = 1.5;
/** What the window becomes after a slow part, and by how many lines it grows after another one. */
const SHRINK = 0.9;
const GROW = 2;
/** By which the quickest part is forgotten with each one that follows: what was quick by day may not be at night. */
const FORGET = 1.000_2;
/**
 * Milliseconds for which the lines of a part count: what takes longer waits for a worker or a server that stands
 * still, or for more load than there is room for, and a batch has to end.
 */
const LONGEST = 500;
/** Milliseconds after its last single push for which a client counts as one that pushes. */
const MEMORY = 10_000;

/** Lines of a batch that may go on. */
export interface BatchPart {
  /** How many: at least one. */
  readonly lines: number;
  /**
   * They ended. A second call has no effect.
   *
   * @param isProcessed whether a worker processed all of them: other ends say nothing about the load
   */
  release(isProcessed: boolean): void;
}

/** A batch whose lines go on as the window lets them. */
export interface BatchTurns {
  /**
   * Waits until more of its lines may go on, behind those of its client that came before.
   *
   * @param timeout milliseconds after which all of them go on, whatever is under way
   */
  take(timeout: number): Promise<BatchPart>;
  /** The lines that did not go on never will. A second call has no effect. */
  close(): void;
}

/** Single pushes of one client. */
interface Singles {
  inFlight: number;
  lastLeft: number;
}

/** Lines that wait for room. */
interface Waiting {
  readonly clientId: string;
  readonly lines: number;
  readonly go: (lines: number, isBeside: boolean) => void;
}

export class BatchWindow {
  private readonly singles = new Map<string, Singles>();
  /** Of a client the first to go first. */
  private readonly waiting = new Set<Waiting>();
  /** Lines by client. */
  private readonly underWay = new Map<string, number>();
  /** Of all batches those that did not go on yet. */
  private linesLeft = 0;
  /** Lines that may be under way beside others. */
  private size = MIN_LINES;
  /** Milliseconds. */
  private quickest = Number.POSITIVE_INFINITY;

  /** @param clock monotonic, milliseconds */
  constructor(private readonly clock: () => number) {}

  /** Lines that did not go on yet: a single push is in front of them. */
  get linesWaiting(): number {
    return this.linesLeft;
  }

  /** A single push comes in. @returns to be called once, when it is answered */
  enter(clientId: string): () => void {
    const singles = this.singles.get(clientId) ?? { inFlight: 0, lastLeft: 0 };
    singles.inFlight += 1;
    this.singles.set(clientId, singles);
    return () => {
      singles.inFlight -= 1;
      singles.lastLeft = this.clock();
    };
  }

  /** A batch comes in. @param lines at least one; to be closed in the end */
  open(clientId: string, lines: number): BatchTurns {
    let left = lines;
    const goOn = (count: number) => {
      const some = Math.min(count, left);
      left -= some;
      this.linesLeft -= some;
    };
    this.linesLeft += lines;
    return {
      take: async (timeout) => {
        const part = await this.take(clientId, left, timeout);
        goOn(part.lines);
        return part;
      },
      close: () => goOn(left),
    };
  }

  private take(clientId: string, lines: number, timeout: number): Promise<BatchPart> {
    return new Promise((resolve) => {
      const go = (granted: number, isBeside: boolean) => {
        clearTimeout(timer);
        this.waiting.delete(waiting);
        resolve(this.start(clientId, granted, isBeside));
      };
      const timer = setTimeout(() => go(lines, false), Math.max(0, timeout));
      const waiting = { clientId, lines, go };
      this.waiting.add(waiting);
      // Whose time is over does not go in parts any more.
      if (timeout > 0) this.grant();
    });
  }

  private start(clientId: string, lines: number, isBeside: boolean): BatchPart {
    const began = this.clock();
    this.count(clientId, lines);
    let left = lines;
    const leave = () => {
      this.count(clientId, -left);
      left = 0;
      this.grant();
    };
    const timer = setTimeout(leave, LONGEST);
    let isOver = false;
    const release = (isProcessed: boolean) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      // A handful, or more than a part, would say how long other numbers take.
      if (isBeside && isProcessed && lines >= CRUMBS) this.learn(this.clock() - began);
      leave();
    };
    return { lines, release };
  }

  private count(clientId: string, lines: number): void {
    const underWay = this.linesOf(clientId) + lines;
    if (underWay > 0) this.underWay.set(clientId, underWay);
    else this.underWay.delete(clientId);
  }

  private linesOf(clientId: string): number {
    return this.underWay.get(clientId) ?? 0;
  }

  /**
   * The window grows while it costs no time: where a database is far away, hundreds of lines take as long as ten.
   *
   * @param took milliseconds, of a part
   */
  private learn(took: number): void {
    this.quickest = Math.min(Math.max(took, 1), this.quickest * FORGET);
    const isSlow = took > SLOWDOWN * this.quickest;
    const size = isSlow ? this.size * SHRINK : this.size + GROW;
    this.size = Math.min(Math.max(size, MIN_LINES), MAX_LINES);
  }

  private grant(): void {
    const full = new Set<string>();
    for (const { clientId, lines, go } of this.waiting) {
      if (full.has(clientId)) continue;
      const others = this.singlesOfOthers(clientId);
      const room = others === undefined ? lines : this.roomBeside(others, clientId);
      if (room < Math.min(lines, CRUMBS)) full.add(clientId);
      else go(Math.min(lines, room), others !== undefined);
    }
  }

  private roomBeside(others: number, clientId: string): number {
    const window = Math.floor(Math.max(this.size, others));
    return Math.min(window - this.linesOf(clientId), Math.floor(window / PARTS));
  }

  /** @returns how many are in flight; undefined where no other client pushes */
  private singlesOfOthers(clientId: string): number | undefined {
    const since = this.clock() - MEMORY;
    let others: number | undefined;
    for (const [id, { inFlight, lastLeft }] of this.singles) {
      if (inFlight === 0 && lastLeft < since) this.singles.delete(id);
      else if (id !== clientId) others = (others ?? 0) + inFlight;
    }
    return others;
  }
}
