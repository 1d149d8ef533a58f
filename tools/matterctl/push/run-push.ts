/** A run of `matterctl push`: sends the lines of a file to the service, in order for each matter, with checkpoints. */
import { setMaxListeners } from 'node:events';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGate } from '../../client/gate';
import { createSender } from '../../client/sender';
import { tryPushes, verifyPushes } from '../../client/try-pushes';
import { usageFailure } from '../failure';
import { listenForInterrupt } from '../interrupt';
import { note } from '../print';
import { showProgress } from '../progress';
import { readTextLines } from '../streams';
import { asUtf8, encodingMessage, markedAsUtf8, openTextFile } from '../text-file';
import type { Tool } from '../tool';
import {
  type Checkpoint,
  fileFingerprint,
  loadCheckpoint,
  type RunIdentity,
  removeCheckpoint,
  startCheckpoints,
} from './checkpoint';
import { printFailures } from './dry-run';
import { Pace } from './pace';
import { type BadLine, createFailureFile, type PushLine, parsePushLine } from './push-line';
import { LineEnds } from './push-work';
import { lockRun } from './run-lock';
import { createRunState, type DoneLines, type RunState } from './run-state';
import { BatchSender } from './send-batch';
import { sendLines } from './send-lines';
import { Standstill } from './standstill';
import type { RunCounts } from './tally';
import { checkPost, checkService, createWaitReporter } from './waits';

export interface PushJob {
  /** Path of the file; undefined: standard input. */
  readonly file: string | undefined;
  /** Encoding that the user names; undefined: it is detected. */
  readonly encoding?: string | undefined;
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Maximum lines in one request; 1: each line is sent as a single push. */
  readonly batch: number;
  /** Maximum concurrent requests. */
  readonly concurrency: number;
  /** Maximum retries of a line if the line itself may be the cause of the failures. */
  readonly retries: number;
  /** Milliseconds that a line may wait for the service. */
  readonly maxWait: number;
  readonly checkpointPath: string | undefined;
  /** Path of the failure file; undefined in a dry run, which prints failed lines on stderr. */
  readonly failuresPath: string | undefined;
  /** Whether the service only checks the lines. Such a run has no checkpoint. */
  readonly dryRun: boolean;
  /** Whether to ignore an existing checkpoint. */
  readonly restart: boolean;
}

export interface PushRunResult {
  /** Counts of the whole input, including the lines of earlier, interrupted runs. */
  readonly counts: RunCounts;
  /** Number of lines that earlier runs have done. */
  readonly resumed: number;
  /** Duration of this run in milliseconds. */
  readonly elapsed: number;
  /** Why the run ended before the last line: a signal, or an error. */
  readonly stopped:
    | { readonly signal: NodeJS.Signals | undefined; readonly error: unknown }
    | undefined;
}

const INTERRUPTED = new Error('interrupted');
/** Milliseconds for one request: longer than the default PUSH_TIMEOUT of the service. */
const TRY_TIMEOUT = 30_000;

/**
 * @throws CommandFailure if the checkpoint belongs to another run or another process pushes the file; system errors of
 *   files
 */
export async function runPush(job: PushJob, tool: Tool): Promise<PushRunResult> {
  const { checkpointPath } = job;
  if (checkpointPath === undefined) return runLocked(job, tool, () => {});
  const lock = await lockRun(`${checkpointPath}.lock`, tool.settings.timeZone());
  return runLocked(job, tool, lock.renew).finally(lock.release);
}

/** @param renewLock shows other hosts that the run is alive */
async function runLocked(job: PushJob, tool: Tool, renewLock: () => void): Promise<PushRunResult> {
  const { file, url, clientId, checkpointPath } = job;
  const encoding = file === undefined ? undefined : await encodingOfPushes(file, job.encoding);
  const print = file === undefined ? undefined : await fileFingerprint(file);
  const input = print ? { size: print.size, sha256: print.sha256 } : null;
  const state = await openState(job, { input, clientId, url }, tool);
  const stop = new AbortController();
  const fail = (error: unknown) => stop.abort(error);
  const checkpoints = await startCheckpoints(checkpointPath, state.snapshot, fail, renewLock);
  const standstill = new Standstill(stop.signal);
  const hideProgress = showProgress({
    stderr: tool.stderr,
    // In UTF-16, bytes of other characters look like line feeds, so the number of lines is unknown.
    total: encoding?.startsWith('utf-16') ? undefined : print?.lines,
    things: 'lines',
    state: () => ({ ...toProgress(state.tally.counts()), isStanding: standstill.isStanding() }),
  });
  const startedAt = Date.now();
  const source =
    file === undefined || encoding === undefined
      ? markedAsUtf8(tool.stdin, job.encoding)
      : asUtf8(createReadStream(file), encoding);
  const signal = await pushAll(source, job, { ...state, standstill }, stop, tool);
  const elapsed = Date.now() - startedAt;
  hideProgress();
  state.failures.close();
  await checkpoints.stop();
  const isStopped = stop.signal.aborted;
  if (!isStopped && checkpointPath !== undefined) await removeCheckpoint(checkpointPath);
  const stopped = isStopped ? { signal, error: stop.signal.reason } : undefined;
  return { counts: state.tally.counts(), resumed: state.resumed, elapsed, stopped };
}

/**
 * Detects the encoding. No line of a file with a doubtful encoding is sent. If only some lines are not UTF-8, only
 * these lines fail.
 *
 * @throws CommandFailure that names the doubtful line
 */
async function encodingOfPushes(file: string, requested: string | undefined): Promise<string> {
  const { encoding = 'utf-8', problem } = await openTextFile(file, requested);
  if (problem && problem.why !== 'mostly-utf-8' && problem.why !== 'unknown') {
    throw usageFailure(`nothing was pushed: ${encodingMessage(file, problem)}`);
  }
  return encoding;
}

async function openState(job: PushJob, identity: RunIdentity, tool: Tool): Promise<RunState> {
  const { checkpointPath, restart, failuresPath } = job;
  const isFresh = checkpointPath === undefined || restart;
  const earlier = isFresh ? undefined : await loadCheckpoint(checkpointPath, identity);
  const failures =
    failuresPath === undefined
      ? printFailures(tool)
      : createFailureFile(failuresPath, earlier?.failuresSize ?? 0);
  const state = createRunState(identity, failures, earlier);
  if (earlier) printResume(tool, earlier, state.resumed);
  return state;
}

/** @returns the signal that has ended the run, if any. A failure of the run is the reason of `stop` */
async function pushAll(
  source: Readable,
  job: PushJob,
  state: RunState & { readonly standstill: Standstill },
  stop: AbortController,
  tool: Tool,
): Promise<NodeJS.Signals | undefined> {
  const { url, clientId, secret, concurrency } = job;
  const cut = new AbortController();
  // Every request listens to the signal, so there can be more listeners than the default limit.
  setMaxListeners(0, cut.signal);
  const interrupt = listenForInterrupt(
    () => stop.abort(INTERRUPTED),
    () => cut.abort(),
  );
  const sender = createSender({ url, clientId, secret, concurrency, timeout: TRY_TIMEOUT });
  const pace = new Pace({ lines: job.batch, requests: concurrency });
  const ends = new LineEnds(state);
  const batches = new BatchSender({
    ...{ ...job, ...state, pace, ends, sender },
    tryPushes: job.dryRun ? verifyPushes : tryPushes,
    gate: createGate(),
    reporter: createWaitReporter(tool),
    checkService: () => checkService(url),
    checkPost: () => checkPost(sender),
    stop: stop.signal,
    cut: cut.signal,
  });
  const lines = pending(source, state.done, stop.signal);
  // The caller reads the failure from the reason of `stop`.
  const { dryRun } = job;
  await sendLines(lines, { ...state, dryRun, batches, pace, ends, stop }).catch(() => undefined);
  interrupt.dispose();
  sender.close();
  return interrupt.signal();
}

/** Yields the parsed lines that are not done yet. It ends early if the run is stopped. */
async function* pending(
  input: Readable,
  done: DoneLines,
  stop: AbortSignal,
): AsyncGenerator<PushLine | BadLine> {
  // A read of standard input may wait for a long time, so a stop must end it.
  stop.addEventListener('abort', () => input.destroy(), { once: true });
  try {
    for await (const raw of readTextLines(input)) {
      if (done.has(raw.number)) continue;
      const line = parsePushLine(raw);
      if (line) yield line;
      else done.add(raw.number);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}

const toProgress = ({ lines, failed }: RunCounts) => ({ done: lines, note: `${failed} failed` });

function printResume(
  { stderr }: Tool,
  { doneThrough, doneAbove }: Checkpoint,
  lines: number,
): void {
  const above = doneAbove.length > 0 ? ' and some after it' : '';
  note(stderr, `Resuming: ${lines} lines are done, up to line ${doneThrough}${above}.`);
}
