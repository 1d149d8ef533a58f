/** Which lines are done: all up to a watermark, and some above it that overtook a slow one. */

/** First and last number, both included. */
export type Range = readonly [number, number];

export class DoneLines {
  readonly #above: Set<number>;
  #through: number;

  /** @param through all lines up to it are done */
  constructor(through = 0, above: readonly Range[] = []) {
    this.#through = through;
    this.#above = new Set(above.flatMap(([first, last]) => numbers(first, last)));
  }

  /** All lines up to it are done. */
  get through(): number {
    return this.#through;
  }

  get size(): number {
    return this.#through + this.#above.size;
  }

  has(line: number): boolean {
    return line <= this.#through || this.#above.has(line);
  }

  add(line: number): void {
    if (this.has(line)) return;
    this.#above.add(line);
    while (this.#above.delete(this.#through + 1)) this.#through += 1;
  }

  /** The lines above the watermark, as ascending ranges. */
  above(): Range[] {
    const ranges: [number, number][] = [];
    for (const line of [...this.#above].sort((a, b) => a - b)) {
      const last = ranges.at(-1);
      if (last && last[1] === line - 1) last[1] = line;
      else ranges.push([line, line]);
    }
    return ranges;
  }
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
