/**
 * The way of a batch (decisions, "Batches"): let in as a whole, and from then on each line is a push of its
 * own, with its entry, its key and its result. What the lines share is done once: one look-up of users, and,
 * of all lines or of each part of them, one append of the log, one of each shard of the queue, one wait.
 * The way of a single push is submit-push.ts.
 */
import { Types } from 'mongoose';
import type { SignedRequest } from '../auth/signed-request';
import { TimeSlice } from '../concurrency/time-slice';
import type { OperationName } from '../domain/operation';
import type { RawLine } from '../protocol/batch-lines';
import { PushError, type RateState } from '../protocol/errors';
import { BATCH } from '../protocol/paths';
import type { BodyDigest, LogEntry } from '../storage/push-log/entry-model';
import type { Metrics } from '../telemetry/metrics';
import type { StageTimes } from '../telemetry/stage-times';
import { databaseCall } from './availability';
import type { BatchTurns, BatchWindow } from './batch-window';
import {
  admit,
  endedPush,
  type LetInDependencies,
  left,
  type Submission,
  takePermit,
} from './let-in';
import type { Permit } from './load-shedder';
import {
  entryOf,
  rejectedEntry,
  replayedEntry,
  type SentPush,
  withMatter,
  withMatterOf,
} from './log-entry';
import type { PushHeaders } from './push-request';
import { type PushResult, resultOf, wasProcessed } from './push-result';
import { type BatchReader, type CheckedLine, checkBatchHeaders, checkLines } from './read-batch';
import {
  fingerprintOf,
  firstTries,
  messageOf,
  queuedEntry,
  type RecordDependencies,
  recordPushes,
  replayedResult,
} from './record-pushes';
import { countRejection, rejectBatch } from './reject-batch';
import type { SettlePushes, UnsentPush } from './settle-push';
import { assignId, type CheckedBody, orRejection, type ValidPush } from './validate-push';

/** `timeout` is BATCH_TIMEOUT. */
export interface SubmitBatchDependencies
  extends LetInDependencies,
    RecordDependencies,
    BatchReader {
  readonly settle: SettlePushes;
  /** Of the lines of a batch, ascending in their order, beside its own. */
  readonly newLineIds: (batchId: string, count: number) => readonly string[];
  readonly metrics: Pick<Metrics, 'stage'>;
  readonly batchWindow: Pick<BatchWindow, 'open'>;
}

/** An authenticated batch, not yet looked into. */
export interface BatchRequest extends SignedRequest, PushHeaders {
  readonly path: string;
  readonly rawBody: Uint8Array;
  /** Of a large body. */
  readonly digest?: BodyDigest | undefined;
  /** @throws PushError where it cannot be read at all */
  readonly readLines: () => readonly RawLine[];
  /** Told where the client stands with its rate. */
  readonly admitted: (rate: RateState | undefined) => void;
  /** Where LOG_REQUESTS is on. */
  readonly stages?: StageTimes | undefined;
}

/** What a line came to. */
export interface LineResult {
  readonly line: number;
  /** Of its entry in the log. */
  readonly requestId: string;
  /** Undefined where the line cannot be read. */
  readonly operation: OperationName | undefined;
  /** As far as it is known. */
  readonly externalId: string | undefined;
  readonly result: PushResult | PushError;
}

/** @throws PushError where it is rejected as a whole: nothing of it was applied then */
export type SubmitBatch = (request: BatchRequest) => Promise<readonly LineResult[]>;

export function createSubmitBatch(deps: SubmitBatchDependencies): SubmitBatch {
  return async (request) => {
    const deadline = request.receivedAt + deps.timeout;
    const sent = { ...request, operation: BATCH };
    const whole = { request: sent, pushes: 1, deadline, isInLog: false };
    let batch: Submission = whole;
    try {
      const lines = orRejection(() => readBatch(request));
      if (lines instanceof PushError) return await rejectBatch(deps, whole, lines);
      const pushes = lines.length;
      batch = { ...whole, request: { ...sent, pushes }, pushes };
      return await submitBatch(deps, request, batch, lines);
    } catch (error) {
      countRejection(deps, batch, error);
      throw error;
    }
  };
}

/** @throws PushError where it cannot be read at all */
function readBatch(request: BatchRequest): readonly RawLine[] {
  checkBatchHeaders(request);
  return request.readLines();
}

/** A line on its way through this process. */
interface Line {
  readonly number: number;
  readonly push: SentPush;
  readonly operation: OperationName | undefined;
  entry: LogEntry;
  readonly valid: ValidPush | undefined;
  /** Its key is that of another line. */
  readonly isRepeated: boolean;
  /** Undefined while it is under way. */
  result: PushResult | PushError | undefined;
  isInLog: boolean;
}

async function submitBatch(
  deps: SubmitBatchDependencies,
  request: BatchRequest,
  batch: Submission,
  rawLines: readonly RawLine[],
): Promise<readonly LineResult[]> {
  const permit = takePermit(deps, batch);
  const turns = deps.batchWindow.open(request.caller.clientId, rawLines.length);
  try {
    request.admitted(await admit(deps, batch));
    const lines = await checkedLines(deps, request, batch, rawLines);
    await replayOrReject(deps, batch, lines);
    const matters = new LineOrder();
    await apply({ deps, batch, permit, turns, stages: request.stages, matters }, lines);
    request.stages?.mark('wait');
    count(deps, lines);
    return lines.map(resultOfLine);
  } finally {
    turns.close();
    permit.release(0);
  }
}

/** A batch whose lines are checked. */
interface CheckedBatch {
  readonly deps: SubmitBatchDependencies;
  readonly batch: Submission;
  readonly permit: Permit;
  readonly turns: BatchTurns;
  readonly stages: StageTimes | undefined;
  readonly matters: LineOrder;
}

/**
 * All at once, or in parts while other clients push. A part is behind the one before it in the log and in its
 * partitions, and need not wait for its end.
 */
async function apply(checked: CheckedBatch, lines: readonly Line[]): Promise<void> {
  if (lines.length === 0) return;
  const { deps, batch, turns, stages } = checked;
  // At half of its time the rest goes on: it has to end by the deadline.
  const timeout = left(deps, batch) - deps.timeout / 2;
  const part = await turns.take(timeout);
  try {
    stages?.mark('admit');
    const first = lines.slice(0, part.lines);
    await record(deps, batch, first);
    stages?.mark('log');
    const settled = settle(checked, first).then(part.release);
    await Promise.all([settled, apply(checked, lines.slice(part.lines))]);
  } finally {
    part.release(false);
  }
}

/** What was read of them is let go of here: a batch waits for seconds, and its JSON is larger than its bytes. */
async function checkedLines(
  deps: SubmitBatchDependencies,
  request: BatchRequest,
  batch: Submission,
  rawLines: readonly RawLine[],
): Promise<Line[]> {
  const checked = await databaseCall(checkLines(deps, rawLines, request), left(deps, batch));
  return linesOf(deps, request, checked);
}

async function linesOf(
  deps: SubmitBatchDependencies,
  request: BatchRequest,
  checked: readonly CheckedLine[],
): Promise<Line[]> {
  const batchId = new Types.ObjectId(request.requestId);
  const ids = deps.newLineIds(request.requestId, checked.length);
  const lines: Line[] = [];
  const slice = new TimeSlice();
  for (const [index, one] of checked.entries()) {
    if (slice.isOver()) await slice.next();
    lines.push(lineOf(deps, request, one, { requestId: ids[index] ?? '', batchId }));
  }
  return lines;
}

function lineOf(
  deps: SubmitBatchDependencies,
  request: BatchRequest,
  { line, read, key, checked: found, isRepeated }: CheckedLine,
  { requestId, batchId }: { readonly requestId: string; readonly batchId: Types.ObjectId },
): Line {
  const { caller, receivedAt } = request;
  const push: SentPush = {
    requestId,
    caller,
    operation: read?.op ?? BATCH,
    idempotencyKey: key,
    rawBody: read?.rawBody ?? line.bytes,
    receivedAt,
    logged: { ...request.logged, batchId, batchLine: line.number },
  };
  const entry = entryOf(push, deps.timeout);
  // One that is no push by its form may name its matter all the same.
  const unqueuedEntry = read ? withMatterOf(entry, read.body) : withMatter(entry, line.bytes);
  const valid = found instanceof PushError ? undefined : withId(request, push, line.number, found);
  return {
    number: line.number,
    push,
    operation: read?.op,
    entry: valid ? queuedEntry(deps, entry, valid) : unqueuedEntry,
    valid,
    isRepeated,
    result: found instanceof PushError ? found : undefined,
    isInLog: false,
  };
}

/** A notice without an id and a key gets one that the same line of the same batch gets again. */
function withId(
  { caller, signature }: BatchRequest,
  { idempotencyKey, rawBody }: SentPush,
  line: number,
  { operation, warnings, externalId }: CheckedBody,
): ValidPush {
  const { clientId } = caller;
  const context = { clientId, idempotencyKey, signature: `${signature}/${line}` };
  return { operation, warnings, externalId: externalId ?? assignId(context, rawBody) };
}

/** Lines that do not pass are rejected; a retry still gets the outcome of its first try, as a single push. */
async function replayOrReject(
  deps: SubmitBatchDependencies,
  batch: Submission,
  lines: readonly Line[],
): Promise<void> {
  const rejected = lines.filter(({ result }) => result !== undefined);
  if (rejected.length === 0) return;
  const fingerprintOfLine = ({ entry, isRepeated }: Line) =>
    isRepeated ? undefined : fingerprintOf(deps, entry);
  const fingerprints = rejected.flatMap((line) => fingerprintOfLine(line) ?? []);
  const firsts = await firstTries(deps, fingerprints, left(deps, batch));
  const now = deps.clock();
  for (const line of rejected) {
    const first = firsts.get(fingerprintOfLine(line) ?? '');
    if (first) {
      line.entry = replayedEntry(line.entry, first, now);
      line.result = replayedResult(line.entry, batch.request.caller.systemCode);
    } else if (line.result instanceof PushError) {
      line.entry = rejectedEntry(line.entry, line.result, now);
    }
  }
}

/** Their entries in one append, those of rejected lines too. */
async function record(
  deps: SubmitBatchDependencies,
  batch: Submission,
  lines: readonly Line[],
): Promise<void> {
  const began = performance.now();
  const unlogged = lines.map(({ entry, push }) => ({ entry, body: push.rawBody }));
  const failures = await recordPushes(deps, unlogged, left(deps, batch));
  for (const line of lines) {
    const failure = failures.get(line.entry);
    line.isInLog = failure === undefined;
    if (failure) line.result = failure;
  }
  deps.metrics.stage('log', began);
}

/**
 * Lines leave the load as they end: a batch that takes long says all the while how fast the workers are.
 *
 * @returns whether a worker processed all of them
 */
async function settle(
  { deps, batch, permit, matters }: CheckedBatch,
  lines: readonly Line[],
): Promise<boolean> {
  const { queued, messages, skipped } = inOrder(lines, matters);
  const skipping = skipped.map((line) => skip(deps, line));
  const settlements = await deps.settle(messages, batch.deadline, (settlement) =>
    permit.end(wasProcessed(settlement)),
  );
  const { systemCode } = batch.request.caller;
  for (const [index, line] of queued.entries()) {
    const settlement = settlements[index];
    const { externalId, warnings } = line.valid;
    line.result = orRejection(() => resultOf(settlement, { systemCode, externalId, warnings }));
  }
  await Promise.all(skipping);
  // Those that ended without a worker are in nobody's way any more, however long the batch goes on.
  for (let ended = queued.length; ended < lines.length; ended += 1) permit.end(false);
  return queued.length === lines.length && settlements.every(wasProcessed);
}

interface QueuedLine extends Line {
  readonly valid: ValidPush;
}

/** What the lines of a batch need to know of those before them. */
class LineOrder {
  /** By matter: the request id of its last line that was queued. */
  readonly last = new Map<string, string>();
  /** Matters of which a line was not recorded. */
  readonly failed = new Set<string>();
}

/**
 * The lines that are to be queued, each with the one of its matter before it. Behind one that was not recorded
 * those of its matter are skipped: they must not take effect without it.
 */
function inOrder(lines: readonly Line[], { last, failed }: LineOrder) {
  const queued: QueuedLine[] = [];
  const skipped: Line[] = [];
  const messages: UnsentPush[] = [];
  for (const line of lines) {
    if (!isValid(line)) continue;
    const { externalId } = line.valid;
    if (line.result) failed.add(externalId);
    else if (failed.has(externalId)) skipped.push(line);
    else {
      const previous = last.get(externalId);
      const message = messageOf(line.push, line.entry, line.valid);
      messages.push(previous === undefined ? message : { previous, ...message });
      queued.push(line);
      last.set(externalId, line.push.requestId);
    }
  }
  return { queued, messages, skipped };
}

const isValid = (line: Line): line is QueuedLine => line.valid !== undefined;

async function skip({ finalizer, clock }: SubmitBatchDependencies, line: Line): Promise<void> {
  const settlement = { state: 'REFUSED', reason: 'SKIPPED_AFTER_FAILURE' } as const;
  line.result = new PushError(settlement.reason);
  await finalizer.finalize({ id: line.push.requestId, settlement }, clock());
}

/** Each line is counted as a push. */
function count({ counts, clock }: SubmitBatchDependencies, lines: readonly Line[]): void {
  const now = clock();
  for (const { push, result, isInLog } of lines) {
    const ended = endedPush(push, resultName(result));
    counts.ended(ended, now - push.receivedAt);
    if (!isInLog) counts.unrecorded(ended);
  }
}

/** As it is counted. */
function resultName(result: PushResult | PushError | undefined): string {
  if (!result) return 'INTERNAL_ERROR';
  return result instanceof PushError ? result.reason : successOf(result);
}

export const successOf = ({ data, replayed }: PushResult) => (replayed ? 'REPLAYED' : data.outcome);

function resultOfLine({ number, push, operation, entry, result }: Line): LineResult {
  return {
    line: number,
    requestId: push.requestId,
    operation,
    externalId: entry.externalId,
    result: result ?? new PushError('INTERNAL_ERROR'),
  };
}
