/** A whole run: the lines of a file, in order per key, to the service, with checkpoints. */
import { setMaxListeners } from 'node:events';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGate } from '../../client/gate';
import { createSender } from '../../client/sender';
import { tryPushes, verifyPushes } from '../../client/try-pushes';
import { CommandFailure, EXIT_USAGE } from '../failure';
import { listenForInterrupt } from '../interrupt';
import { note } from '../print';
import { showProgress } from '../progress';
import { readLines } from '../streams';
import { asUtf8, markedAsUtf8, openTextFile, tellEncoding } from '../text-file';
import type { Tool } from '../tool';
import {
  type Checkpoint,
  fingerprintOf,
  loadCheckpoint,
  type RunIdentity,
  removeCheckpoint,
  startCheckpoints,
} from './checkpoint';
import { tellFailures } from './dry-run';
import { Pace } from './pace';
import { type BadLine, createFailureFile, type PushLine, parsePushLine } from './push-line';
import { LineEnds } from './push-work';
import { lockRun } from './run-lock';
import { createRunState, type DoneLines, type RunState } from './run-state';
import { BatchSender } from './send-batch';
import { sendLines } from './send-lines';
import { Standstill } from './standstill';
import type { Counts } from './tally';
import { askByPost, askService, createWaitTeller } from './waits';

export interface PushJob {
  /** A path; undefined: standard input. */
  readonly file: string | undefined;
  /** Of the file, as the user names it; undefined: it is found out. */
  readonly encoding?: string | undefined;
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  /** Most lines that go in one request; 1: each is a push of its own. */
  readonly batch: number;
  /** Most requests at the same time. */
  readonly concurrency: number;
  /** Most tries after the first that fail for what may lie in the line. */
  readonly retries: number;
  /** Milliseconds that a line may wait for the service. */
  readonly maxWait: number;
  readonly checkpointPath: string | undefined;
  /** undefined, in a dry run: they are told on stderr. */
  readonly failuresPath: string | undefined;
  /** Whether the service is to check the lines only; without a checkpoint. */
  readonly dryRun: boolean;
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
/** Milliseconds for one try of a push: longer than the service's PUSH_TIMEOUT. */
const TRY_TIMEOUT = 30_000;

/**
 * @throws CommandFailure where a checkpoint does not fit or another process pushes the file, and what
 *   the files' system calls throw
 */
export async function runPush(job: PushJob, tool: Tool): Promise<PushResult> {
  const { checkpointPath } = job;
  if (checkpointPath === undefined) return runLocked(job, tool, () => {});
  const lock = await lockRun(`${checkpointPath}.lock`, tool.settings.timeZone());
  return runLocked(job, tool, lock.renew).finally(lock.release);
}

/** @param renewLock shows that the run lives */
async function runLocked(job: PushJob, tool: Tool, renewLock: () => void): Promise<PushResult> {
  const { file, url, clientId, checkpointPath } = job;
  const encoding = file === undefined ? undefined : await encodingOfPushes(file, job.encoding);
  const print = file === undefined ? undefined : await fingerprintOf(file);
  const input = print ? { size: print.size, sha256: print.sha256 } : null;
  const state = await openState(job, { input, clientId, url }, tool);
  const stop = new AbortController();
  const fail = (error: unknown) => stop.abort(error);
  const checkpoints = await startCheckpoints(checkpointPath, state.snapshot, fail, renewLock);
  const standstill = new Standstill(stop.signal);
  const hideProgress = showProgress({
    stderr: tool.stderr,
    // Bytes of another character look like line ends in UTF-16.
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
 * Nothing of a file is sent whose encoding is doubtful. A line that is not UTF-8 in a file that is UTF-8 otherwise
 * fails alone.
 *
 * @throws CommandFailure naming the line
 */
async function encodingOfPushes(file: string, given: string | undefined): Promise<string> {
  const { encoding = 'utf-8', problem } = await openTextFile(file, given);
  if (problem && problem.why !== 'mostly-utf-8' && problem.why !== 'unknown') {
    throw new CommandFailure(`nothing was pushed: ${tellEncoding(file, problem)}`, EXIT_USAGE);
  }
  return encoding;
}

async function openState(job: PushJob, identity: RunIdentity, tool: Tool): Promise<RunState> {
  const { checkpointPath, restart, failuresPath } = job;
  const isFresh = checkpointPath === undefined || restart;
  const earlier = isFresh ? undefined : await loadCheckpoint(checkpointPath, identity);
  const failures =
    failuresPath === undefined
      ? tellFailures(tool)
      : createFailureFile(failuresPath, earlier?.failuresSize ?? 0);
  const state = createRunState(identity, failures, earlier);
  if (earlier) tellResume(tool, earlier, state.resumed);
  return state;
}

/** @returns the signal that ended it, if one did; a failure is the reason of `stop` */
async function pushAll(
  source: Readable,
  job: PushJob,
  state: RunState & { readonly standstill: Standstill },
  stop: AbortController,
  tool: Tool,
): Promise<NodeJS.Signals | undefined> {
  const { url, clientId, secret, concurrency } = job;
  const cut = new AbortController();
  // Every request listens to it.
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
    teller: createWaitTeller(tool),
    askService: () => askService(url),
    askByPost: () => askByPost(sender),
    stop: stop.signal,
    cut: cut.signal,
  });
  const lines = pending(source, state.done, stop.signal);
  // A failure of the run is the reason of `stop` too, where the caller reads it.
  const { dryRun } = job;
  await sendLines(lines, { ...state, dryRun, batches, pace, ends, stop }).catch(() => undefined);
  interrupt.dispose();
  sender.close();
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
  note(stderr, `Resuming: ${lines} lines are done, up to line ${doneThrough}${above}.`);
}
