/** The state of a run, which a checkpoint saves and restores. */
import { randomBytes } from 'node:crypto';
import type { Checkpoint, RunIdentity } from './checkpoint';
import type { FailureFile } from './push-line';
import { PushTally } from './tally';

export interface RunState {
  /** Prefix of the idempotency keys of lines without their own key. */
  readonly runId: string;
  readonly done: DoneLines;
  readonly tally: PushTally;
  readonly failures: FailureFile;
  /** Number of lines that earlier runs have done. */
  readonly resumed: number;
  /** The checkpoint for the current state. */
  readonly snapshot: () => Checkpoint;
}

/**
 * @param failures the file for failed lines
 * @param earlier the checkpoint of the run to continue
 */
export function createRunState(
  identity: RunIdentity,
  failures: FailureFile,
  earlier: Checkpoint | undefined,
): RunState {
  const runId = earlier?.runId ?? randomBytes(9).toString('base64url');
  const done = new DoneLines(earlier?.doneThrough, earlier?.doneAbove);
  const tally = new PushTally(earlier?.counts);
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

/** Numbers of the first and the last line, both included. */
export type Range = readonly [number, number];

/** The numbers of the done lines: all up to a watermark, and later lines that have overtaken a slow one. */
export class DoneLines {
  readonly #above: Set<number>;
  #through: number;

  /** @param through all lines up to this number are done @param above ranges of later lines that are done */
  constructor(through = 0, above: readonly Range[] = []) {
    this.#through = through;
    this.#above = new Set(above.flatMap(([first, last]) => numbers(first, last)));
  }

  /** The watermark: all lines up to this number are done. */
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

  /** The done lines after the watermark, as ascending ranges. */
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
