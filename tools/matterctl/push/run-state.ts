/** What a run knows of its lines, and how it goes on from a checkpoint. */
import { randomBytes } from 'node:crypto';
import type { Checkpoint, RunIdentity } from './checkpoint';
import type { FailureFile } from './push-line';
import { Tally } from './tally';

export interface RunState {
  /** Prefix of the idempotency keys of lines that have none of their own. */
  readonly runId: string;
  readonly done: DoneLines;
  readonly tally: Tally;
  readonly failures: FailureFile;
  /** Lines that earlier runs had done. */
  readonly resumed: number;
  /** All of it at one moment. */
  readonly snapshot: () => Checkpoint;
}

/**
 * @param failures takes the lines that fail
 * @param earlier the checkpoint of the run that is continued
 */
export function createRunState(
  identity: RunIdentity,
  failures: FailureFile,
  earlier: Checkpoint | undefined,
): RunState {
  const runId = earlier?.runId ?? randomBytes(9).toString('base64url');
  const done = new DoneLines(earlier?.doneThrough, earlier?.doneAbove);
  const tally = new Tally(earlier?.counts);
  const snapshot = (): Checkpoint => ({
    version: 1,
    runId,
    ...identity,
    doneThrough: done.through,
    doneAbove: done.above(),
    failuresSize: failures.size(),
    counts: tally.counts(),
  });
  return { runId, done, tally, failures, resumed: tally.counts().lines, snapshot };
}

/** First and last number, both included. */
export type Range = readonly [number, number];

/** Which lines are done: all up to a watermark, and some above it that overtook a slow one. */
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
