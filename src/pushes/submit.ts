/**
 * The path of a push request in `web`: admit, validate, record, apply. A single push takes the same path as a batch
 * (contract 7).
 */
import { type Caller, checkMayPush } from '../auth/authenticate';
import type { StageTimes } from '../observability/metrics';
import type { RawLine } from '../protocol/batch-lines';
import { clientPaused, PushError } from '../protocol/errors';
import { type Settlement, settlementOf } from '../storage/push-log';
import type { Admit } from './admission';
import {
  type ApplyDependencies,
  applyPushes,
  LineOrder,
  type Push,
  pushResultOf,
  recordPushes,
} from './apply';
import type { BatchWindow, WindowAccess } from './batch-window';
import type { LoadShedder, Permit } from './load-shedder';
import {
  answerOf,
  type PushRequest,
  type PushResult,
  rejectedEntry,
  replayedEntry,
  wasProcessed,
} from './push';
import { checkBatchHeaders } from './read-batch';
import { type ReadDependencies, readPushes } from './read-pushes';
import { type LogRejection, rejectRequest } from './rejections';

export interface SubmitDependencies extends ApplyDependencies, ReadDependencies {
  /** @throws PushError while no push can be applied */
  readonly checkReady: () => void;
  readonly admit: Admit;
  readonly loadShedder: LoadShedder;
  readonly batchWindow: BatchWindow;
  readonly logRejection: LogRejection;
  /** PUSH_TIMEOUT, milliseconds. */
  readonly timeout: number;
  /** BATCH_TIMEOUT, milliseconds. */
  readonly batchTimeout: number;
}

/** The steps that differ for a resend (resend-request.ts). */
export interface SubmitSteps {
  readonly read: typeof readPushes;
  /** Only for a resend: can reject pushes that are recorded but not queued yet. */
  readonly recheck?: (pushes: readonly Push[], remainingTime: number) => Promise<void>;
}

const USUAL_STEPS: SubmitSteps = { read: readPushes };

/** @returns one result per push, or one result for a batch or resend that is rejected as a whole */
export type Submit = (request: PushRequest, steps?: SubmitSteps) => Promise<readonly PushResult[]>;

interface Submission {
  readonly request: PushRequest;
  /** The lines of a batch, or the error of an unreadable batch; undefined for a single push. */
  readonly lines: readonly RawLine[] | PushError | undefined;
  readonly steps: SubmitSteps;
  /** Milliseconds from the receipt of the request to the deadline. */
  readonly timeout: number;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

export function createSubmit(deps: SubmitDependencies): Submit {
  return async (request, steps = USUAL_STEPS) => {
    const { readLines } = request;
    const lines = readLines && (await splitLines(request, readLines));
    const timeout = lines ? deps.batchTimeout : deps.timeout;
    const submission = { request, lines, steps, timeout, deadline: request.receivedAt + timeout };
    try {
      const pushes = await submitPushes(deps, submission);
      return pushes.map(pushResultOf);
    } catch (error) {
      return [rejectRequest(deps, request, { lines, timeout }, error)];
    }
  };
}

async function splitLines(
  request: PushRequest,
  readLines: NonNullable<PushRequest['readLines']>,
): Promise<Submission['lines']> {
  try {
    checkBatchHeaders(request);
    return await readLines();
  } catch (error) {
    if (error instanceof PushError) return error;
    throw error;
  }
}

async function submitPushes(deps: SubmitDependencies, submission: Submission): Promise<Push[]> {
  const { request, lines, timeout } = submission;
  const { caller } = request;
  const count = Array.isArray(lines) ? lines.length : 1;
  const lineCount = lines && count;
  // `checkReady` must precede `admit`, because `admit` counts the request for the rate limit.
  deps.checkReady();
  // `enter` must precede `takePermit`, because rejected single pushes also limit the batches of other clients.
  const access = deps.batchWindow.enter(caller.clientId, lineCount);
  let permit = NO_PERMIT;
  try {
    permit = takePermit(deps.loadShedder, caller, lineCount);
    // `checkMayPush` rejects the request of a query-only key. Therefore the request counts as one push.
    const counted = isQueryOnly(caller) ? 1 : count;
    const rate = await deps.admit(request, remainingTime(deps, submission), counted);
    checkMayPush(caller);
    request.onAdmitted(rate);
    const times = { timeout, left: remainingTime(deps, submission) };
    const pushes = await submission.steps.read(deps, request, lines, times);
    await answerInvalid(deps, submission, pushes);
    // In the access log, a request without a valid push has only the stage `verify`.
    const stages = pushes.some(({ valid }) => valid) ? request.stages : undefined;
    const order = new LineOrder();
    await applyInParts({ deps, submission, stages, permit, access, order }, pushes);
    stages?.mark('wait');
    return pushes;
  } finally {
    access.leave();
    permit.release();
  }
}

const remainingTime = ({ clock }: SubmitDependencies, { deadline }: Submission) =>
  deadline - clock();

const isQueryOnly = ({ queryKey }: Caller) => queryKey?.mayPush === false;

const NO_PERMIT: Permit = { end: () => {}, release: () => {} };

/** @throws PushError CLIENT_PAUSED or BACKLOG_FULL */
function takePermit(loadShedder: LoadShedder, caller: Caller, lines: number | undefined): Permit {
  if (isQueryOnly(caller)) return NO_PERMIT;
  if (caller.paused) throw clientPaused(caller.paused.reason);
  return loadShedder.acquire(caller.clientId, lines);
}

/**
 * A retry can be invalid although the first attempt was valid. In this case, the retry gets the outcome of the first
 * attempt.
 */
async function answerInvalid(
  deps: SubmitDependencies,
  submission: Submission,
  pushes: readonly Push[],
): Promise<void> {
  const invalid = pushes.filter(({ answer }) => answer !== undefined);
  if (invalid.length === 0) return;
  const fingerprints = invalid.flatMap(({ fingerprint }) => fingerprint ?? []);
  const firsts = await deps.idempotency.firstAttempts(
    fingerprints,
    remainingTime(deps, submission),
  );
  const now = deps.clock();
  for (const push of invalid) {
    const first = firsts.get(push.fingerprint ?? '');
    if (first) {
      push.entry = replayedEntry(push.entry, first, now);
      const { externalId = '', warnings = [] } = push.entry;
      push.answer = answerOf(settlementOf(push.entry), push.systemCode, { externalId, warnings });
    } else if (push.answer instanceof PushError) {
      push.entry = rejectedEntry(push.entry, push.answer, now);
    }
  }
}

interface PartContext {
  readonly deps: SubmitDependencies;
  readonly submission: Submission;
  readonly stages: StageTimes | undefined;
  readonly permit: Permit;
  readonly access: WindowAccess;
  readonly order: LineOrder;
}

/** While other clients send single pushes, a batch is recorded and applied in parts. */
async function applyInParts(context: PartContext, pushes: readonly Push[]): Promise<void> {
  if (pushes.length === 0) return;
  const { deps, submission, stages, access } = context;
  // After half of the timeout, all remaining lines start at once.
  const part = await access.take(remainingTime(deps, submission) - submission.timeout / 2);
  try {
    stages?.mark('admit');
    const first = pushes.slice(0, part.lines);
    await recordPushes(deps, first, remainingTime(deps, submission));
    await submission.steps.recheck?.(first, remainingTime(deps, submission));
    stages?.mark('log');
    const applied = applyPart(context, first).then(part.release);
    await Promise.all([applied, applyInParts(context, pushes.slice(part.lines))]);
  } finally {
    part.release();
  }
}

/** Reports each reply immediately to the load shedder. */
async function applyPart({ deps, submission, permit, order }: PartContext, part: Push[]) {
  const { deadline } = submission;
  const onSettled = (settlement: Settlement) => permit.end(wasProcessed(settlement));
  const queued = await applyPushes(deps, part, { deadline, order, onSettled });
  for (let ended = queued; ended < part.length; ended += 1) permit.end(false);
}
