/** What a run knows of its lines, and how it goes on from a checkpoint. */
import { randomBytes } from 'node:crypto';
import type { Checkpoint, RunIdentity } from './checkpoint';
import { DoneLines } from './done-lines';
import { createFailureFile, type FailureFile } from './failure-file';
import { createTally, type Tally } from './tally';

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

/** @param earlier the checkpoint of the run that is continued */
export function createRunState(
  identity: RunIdentity,
  failuresPath: string,
  earlier: Checkpoint | undefined,
): RunState {
  const runId = earlier?.runId ?? randomBytes(9).toString('base64url');
  const done = new DoneLines(earlier?.doneThrough, earlier?.doneAbove);
  const tally = createTally(earlier?.counts);
  const failures = createFailureFile(failuresPath, earlier?.failuresSize ?? 0);
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
