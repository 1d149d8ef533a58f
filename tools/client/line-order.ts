/** What waits to be sent: in order per key, the lowest number first, alone or several together. */
import { createLeastFirst, type LeastFirst } from './least-first';

export interface Line {
  /** Of its arrival: of all that may go, the lowest goes first. */
  readonly number: number;
  /** What orders it among the others; undefined: it depends on none. */
  readonly key: string | undefined;
  /** Bytes that it takes of a batch; undefined: it goes alone. */
  readonly size: number | undefined;
  /** Most lines of a batch that it may be in. */
  readonly company: number;
  /** What no other line of its batch may have too; undefined: nothing. */
  readonly once?: string | undefined;
}

export interface BatchBounds {
  readonly lines: number;
  readonly bytes: number;
}

/** The lines of one key that have not ended. */
interface KeyLines<T> {
  /** In their order; those that are taken or ready are not among them. */
  readonly behind: T[];
  /** How many were given out and have neither ended nor come back. */
  taken: number;
}

/**
 * Lines of one key are given out together, in their order, or one after the other has ended. A line
 * that comes back is given out again before those behind it.
 */
export class BatchLineOrder<T extends Line> {
  /** The heaps may hold lines that are not ready any more: they are passed over. */
  readonly #alone = createLeastFirst<T>();
  readonly #joint = createLeastFirst<T>();
  /** May be given out: of each key one line at most, while none of it is taken. */
  readonly #ready = new Set<T>();
  readonly #keys = new Map<string, KeyLines<T>>();
  /** By key: what was made ready for the batch that is being made, and for no other. */
  readonly #offered = new Map<string | undefined, T>();
  #waiting = 0;

  /** How many were not given out yet. */
  get waiting(): number {
    return this.#waiting;
  }

  add(line: T): void {
    this.#waiting += 1;
    const { key } = line;
    const known = this.#linesOf(line);
    if (known) known.behind.push(line);
    else {
      if (key !== undefined) this.#keys.set(key, { behind: [], taken: 0 });
      this.#makeReady(line);
    }
  }

  /**
   * Gives out what goes next: one line that goes alone, or a batch in the order of the numbers.
   *
   * @param mayJoin false: only a line that goes alone
   * @returns no line where none may go
   */
  take(mayJoin: boolean, bounds: BatchBounds): T[] {
    const alone = this.#first(this.#alone);
    const joint = mayJoin ? this.#first(this.#joint) : undefined;
    if (joint && !(alone && alone.number < joint.number)) return this.#takeBatch(bounds);
    if (!alone) return [];
    this.#giveOut(alone, this.#alone);
    return [alone];
  }

  /** It came to its end: those behind it may go. */
  end(line: T): void {
    const lines = this.#linesOf(line);
    if (lines) lines.taken -= 1;
    this.#goOn(line.key, lines);
  }

  /** It is to be given out again, before those behind it. */
  again(line: T): void {
    this.#waiting += 1;
    const lines = this.#linesOf(line);
    if (!lines) {
      this.#makeReady(line);
      return;
    }
    const at = lines.behind.findIndex(({ number }) => number > line.number);
    lines.behind.splice(at === -1 ? lines.behind.length : at, 0, line);
    lines.taken -= 1;
    this.#goOn(line.key, lines);
  }

  /** It was not given out and gave up: those behind it move up. */
  leave(line: T): void {
    this.#waiting -= 1;
    const lines = this.#linesOf(line);
    if (this.#ready.delete(line)) this.#goOn(line.key, lines);
    else if (lines) lines.behind.splice(lines.behind.indexOf(line), 1);
  }

  #takeBatch({ lines: most, bytes: room }: BatchBounds): T[] {
    const batch: T[] = [];
    const seen = new Set<string | undefined>();
    let company = most;
    let bytes = 0;
    for (;;) {
      const line = this.#first(this.#joint);
      if (!line || batch.length >= Math.min(company, line.company)) break;
      bytes += line.size ?? 0;
      if (batch.length > 0 && bytes > room) break;
      if (line.once !== undefined && seen.has(line.once)) break;
      seen.add(line.once);
      this.#giveOut(line, this.#joint);
      batch.push(line);
      company = Math.min(company, line.company);
      this.#offerNext(line);
    }
    for (const line of batch) this.#withdrawOffer(line);
    return batch;
  }

  /** The next one of its key may go with it, in the same batch. */
  #offerNext(line: T): void {
    const lines = this.#linesOf(line);
    const next = lines?.behind[0];
    if (next?.size === undefined) return;
    lines?.behind.shift();
    this.#makeReady(next);
    this.#offered.set(line.key, next);
  }

  #withdrawOffer(line: T): void {
    const offered = this.#offered.get(line.key);
    if (!offered) return;
    this.#offered.delete(line.key);
    if (this.#ready.delete(offered)) this.#linesOf(line)?.behind.unshift(offered);
  }

  #giveOut(line: T, heap: LeastFirst<T>): void {
    heap.take();
    this.#ready.delete(line);
    this.#waiting -= 1;
    const lines = this.#linesOf(line);
    if (lines) lines.taken += 1;
  }

  #goOn(key: string | undefined, lines: KeyLines<T> | undefined): void {
    if (key === undefined || !lines || lines.taken > 0) return;
    const next = lines.behind.shift();
    if (next) this.#makeReady(next);
    else this.#keys.delete(key);
  }

  #makeReady(line: T): void {
    this.#ready.add(line);
    (line.size === undefined ? this.#alone : this.#joint).add(line);
  }

  #first(heap: LeastFirst<T>): T | undefined {
    for (;;) {
      const line = heap.peek();
      if (!line || this.#ready.has(line)) return line;
      heap.take();
    }
  }

  #linesOf({ key }: T): KeyLines<T> | undefined {
    return key === undefined ? undefined : this.#keys.get(key);
  }
}
