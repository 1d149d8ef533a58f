/** Lines that wait to be sent: in order within each key, lowest number first, alone or in batches. */
import { createLeastFirst, type LeastFirst } from './least-first';

export interface Line {
  /** Number of its arrival. Of all lines that may be sent, the line with the lowest number is sent first. */
  readonly number: number;
  /** Lines with the same key are sent in order. Undefined: the line does not depend on other lines. */
  readonly key: string | undefined;
  /** Bytes of the line in a batch; undefined: it is sent alone. */
  readonly size: number | undefined;
  /** Maximum lines of a batch that contains this line. */
  readonly company: number;
  /** A batch contains at most one line with this value. Undefined: no restriction. */
  readonly once?: string | undefined;
}

export interface BatchBounds {
  readonly lines: number;
  readonly bytes: number;
}

/** The lines of one key that have not ended. */
interface KeyLines<T> {
  /** The waiting lines, in order, without the lines that are taken or ready. */
  readonly behind: T[];
  /** Number of lines that were taken and have neither ended nor returned. */
  taken: number;
}

/**
 * Lines of one key are taken together in one batch, in their order, or each after the end of the previous one. A line
 * that returns is taken again before later lines of its key.
 */
export class BatchLineOrder<T extends Line> {
  /** The heaps may contain lines that are no longer ready. `#first` removes such lines. */
  readonly #alone = createLeastFirst<T>();
  readonly #joint = createLeastFirst<T>();
  /** Lines that may be taken: at most one line of each key, while no line of the key is taken. */
  readonly #ready = new Set<T>();
  readonly #keys = new Map<string, KeyLines<T>>();
  /** By key, the line that is ready only for the batch that is being built. */
  readonly #offered = new Map<string | undefined, T>();
  #waiting = 0;

  /** Number of lines that were not taken yet. */
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
   * Takes the next lines: one line that is sent alone, or a batch in the order of the numbers.
   *
   * @param mayJoin false: takes no batch
   * @returns an empty list if no line may be sent
   */
  take(mayJoin: boolean, bounds: BatchBounds): T[] {
    const alone = this.#first(this.#alone);
    const joint = mayJoin ? this.#first(this.#joint) : undefined;
    if (joint && !(alone && alone.number < joint.number)) return this.#takeBatch(bounds);
    if (!alone) return [];
    this.#giveOut(alone, this.#alone);
    return [alone];
  }

  /** The line has ended. Later lines of its key may be taken. */
  end(line: T): void {
    const lines = this.#linesOf(line);
    if (lines) lines.taken -= 1;
    this.#goOn(line.key, lines);
  }

  /** The line returns. It is taken again before later lines of its key. */
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

  /** Removes a line that was not taken. Later lines of its key may be taken instead. */
  leave(line: T): void {
    this.#waiting -= 1;
    const lines = this.#linesOf(line);
    if (this.#ready.delete(line)) this.#goOn(line.key, lines);
    else if (lines) lines.behind.splice(lines.behind.indexOf(line), 1);
  }

  #takeBatch({ lines: maxLines, bytes: room }: BatchBounds): T[] {
    const batch: T[] = [];
    const seen = new Set<string | undefined>();
    let company = maxLines;
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

  /** Makes the next line of the same key ready for this batch. */
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
