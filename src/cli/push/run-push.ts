/** A whole run: the lines of a file, in order per key, to the service, with checkpoints. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import {
  createMatterPushClient,
  type MatterPushClientOptions,
} from '../../client/matter-push-client';
import { listenForInterrupt } from '../interrupt';
import { showProgress } from '../progress';
import { readAhead } from '../read-ahead';
import { readLines } from '../read-lines';
import type { Tool } from '../tool';
import { type Checkpoint, loadCheckpoint, type RunIdentity, removeCheckpoint } from './checkpoint';
import { startCheckpoints } from './checkpoint-writer';
import type { DoneLines } from './done-lines';
import { fingerprintOf } from './fingerprint';
import { type BadLine, type PushLine, parsePushLine } from './push-line';
import { createPushWork } from './push-work';
import { createRunState, type RunState } from './run-state';
import type { Counts } from './tally';
import { tellPause } from './tell-pause';

export interface PushJob {
  /** A path; undefined: standard input. */
  readonly file: string | undefined;
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  readonly concurrency: number;
  readonly retries: number;
  readonly checkpointPath: string | undefined;
  readonly failuresPath: string;
  /** Whether to ignore an existing checkpoint. */
  readonly restart: boolean;
}

/** Counts are those of the whole input, also of what earlier, interrupted runs did. */
export interface PushResult {
  readonly counts: Counts;
  /** Lines that earlier runs had done. */
  readonly resumed: number;
  /** Of this run, in milliseconds. */
  readonly elapsed: number;
  /** Why it ended before the last line: a signal, or else an error. */
  readonly stopped:
    | { readonly signal: NodeJS.Signals | undefined; readonly error: unknown }
    | undefined;
}

const INTERRUPTED = new Error('interrupted');
/** Lines, and bytes of them, that may wait for their turn. */
const WINDOW_LINES = 10_000;
const WINDOW_BYTES = 64 * 1024 * 1024;

/** @throws CommandFailure where a checkpoint does not fit, and what the files' system calls throw */
export async function runPush(job: PushJob, tool: Tool): Promise<PushResult> {
  const { file, url, clientId, checkpointPath } = job;
  const print = file === undefined ? undefined : await fingerprintOf(file);
  const input = print ? { size: print.size, sha256: print.sha256 } : null;
  const state = await openState(job, { input, clientId, url }, tool);
  const stop = new AbortController();
  const checkpoints = await startCheckpoints(checkpointPath, state.snapshot, (error) =>
    stop.abort(error),
  );
  const { counts } = state.tally;
  const hideProgress = showProgress({
    stderr: tool.stderr,
    total: print?.lines,
    things: 'lines',
    state: () => toProgress(counts()),
  });
  const startedAt = Date.now();
  const source = file === undefined ? tool.stdin : createReadStream(file);
  const signal = await pushAll(source, job, state, stop, tellPause(job.retries, tool));
  const elapsed = Date.now() - startedAt;
  hideProgress();
  state.failures.close();
  await checkpoints.stop();
  const isStopped = stop.signal.aborted;
  if (!isStopped && checkpointPath !== undefined) await removeCheckpoint(checkpointPath);
  const stopped = isStopped ? { signal, error: stop.signal.reason } : undefined;
  return { counts: counts(), resumed: state.resumed, elapsed, stopped };
}

async function openState(job: PushJob, identity: RunIdentity, tool: Tool): Promise<RunState> {
  const { checkpointPath, restart, failuresPath } = job;
  const isFresh = checkpointPath === undefined || restart;
  const earlier = isFresh ? undefined : await loadCheckpoint(checkpointPath, identity);
  const state = createRunState(identity, failuresPath, earlier);
  if (earlier) tellResume(tool, earlier, state.resumed);
  return state;
}

/** @returns the signal that ended it, if one did; a failure is the reason of `stop` */
async function pushAll(
  source: Readable,
  job: PushJob,
  state: RunState,
  stop: AbortController,
  onRetry: MatterPushClientOptions['onRetry'],
): Promise<NodeJS.Signals | undefined> {
  // Its retries bound a line, and the window what waits.
  const unbounded = { timeout: Number.POSITIVE_INFINITY, queue: Number.POSITIVE_INFINITY };
  const client = createMatterPushClient({ ...job, ...unbounded, onRetry });
  const cut = new AbortController();
  stop.signal.addEventListener('abort', () => void client.close(), { once: true });
  const interrupt = listenForInterrupt(
    () => stop.abort(INTERRUPTED),
    () => cut.abort(),
  );
  const work = createPushWork({ ...state, client, cut: cut.signal });
  // A failure of the run is the reason of `stop` too, where the caller reads it.
  await readAhead(pending(source, state.done, stop.signal), {
    weightOf: (line) => 1 / WINDOW_LINES + (2 * line.text.length) / WINDOW_BYTES,
    work,
    stop,
  }).catch(() => undefined);
  interrupt.dispose();
  await client.close();
  return interrupt.signal();
}

/** The lines that are not done, parsed; ends early when stopped. */
async function* pending(
  input: Readable,
  done: DoneLines,
  stop: AbortSignal,
): AsyncGenerator<PushLine | BadLine> {
  // Standard input may have nothing to read for a long time.
  stop.addEventListener('abort', () => input.destroy(), { once: true });
  try {
    for await (const raw of readLines(input)) {
      if (done.has(raw.number)) continue;
      const line = parsePushLine(raw);
      if (line) yield line;
      else done.add(raw.number);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

const toProgress = ({ lines, failed }: Counts) => ({ done: lines, note: `${failed} failed` });

function tellResume({ stderr }: Tool, { doneThrough, doneAbove }: Checkpoint, lines: number): void {
  const above = doneAbove.length > 0 ? ' and some after it' : '';
  stderr.write(`Resuming: ${lines} lines are done, up to line ${doneThrough}${above}.\n`);
}
