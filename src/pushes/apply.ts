/**
 * Records pushes in the push log, and applies the valid pushes. Single pushes, parts of batches and resends use this
 * file.
 */
import type { Reach } from '../concurrency/reach';
import type { Clock } from '../concurrency/timing';
import type { OperationName } from '../domain/operation';
import { isCausedByDocument } from '../infra/driver-errors';
import { type Metrics, NO_METRICS } from '../observability/metrics';
import { PushError, type Reason } from '../protocol/errors';
import type { LogEntry, PushLog, Settlement } from '../storage/push-log';
import { databaseCall } from './availability';
import type { PushFinalizer } from './lost-replies';
import {
  answerOf,
  type EntrySource,
  messageOf,
  newEntry,
  type PushAnswer,
  type PushResult,
  queuedEntry,
  withExternalId,
} from './push';
import type { PushToQueue, QueueAndWait } from './queue-and-wait';
import type { ValidPush } from './validate';

/** A push that is being processed. */
export interface Push {
  readonly requestId: string;
  readonly systemCode: string;
  /** The number of the line in its batch; undefined for a single push. */
  readonly line: number | undefined;
  readonly operation: OperationName | undefined;
  /** The body to store; undefined for a large unreadable batch. */
  readonly body: Uint8Array | undefined;
  entry: LogEntry;
  /** Undefined: the push is invalid. */
  readonly valid: ValidPush | undefined;
  /** Undefined until the answer is known. */
  answer: PushAnswer | undefined;
  /** The idempotency fingerprint; undefined if the push has none. */
  readonly fingerprint: string | undefined;
  /** True after the entry was written to the push log. */
  isRecorded: boolean;
}

export interface PushSource extends EntrySource {
  readonly caller: EntrySource['caller'] & { readonly systemCode: string };
  readonly line?: number;
}

/** The result of the validation of a push. */
export interface Validated {
  readonly checked: ValidPush | PushError;
  /** Undefined if the line, or the whole batch, is unreadable. */
  readonly operation: OperationName | undefined;
  /** The externalId in an invalid body, if the externalId can be read. */
  readonly externalId?: string | undefined;
  /** Returns the idempotency fingerprint of an entry; see `Idempotency.fingerprintOf`. */
  readonly fingerprintOf: (entry: LogEntry) => string | undefined;
}

/** Creates the push of a request or of a line. @param timeout milliseconds that the caller waits */
export function newPush(
  source: PushSource,
  { checked, operation, externalId, fingerprintOf }: Validated,
  timeout: number,
): Push {
  const { requestId, caller, line, rawBody: body } = source;
  const entry = newEntry(source, timeout);
  const fingerprint = fingerprintOf(entry);
  const isInvalid = checked instanceof PushError;
  return {
    requestId,
    systemCode: caller.systemCode,
    line,
    operation,
    body,
    entry: isInvalid ? withExternalId(entry, externalId) : queuedEntry(entry, checked, fingerprint),
    valid: isInvalid ? undefined : checked,
    answer: isInvalid ? checked : undefined,
    fingerprint,
    isRecorded: false,
  };
}

export interface ApplyDependencies {
  readonly pushLog: PushLog;
  readonly finalizer: PushFinalizer;
  readonly database: Reach;
  readonly queueAndWait: QueueAndWait;
  /** The reply channel of this process. */
  readonly replyTo: string;
  readonly clock: Clock;
  readonly metrics?: Metrics;
}

/**
 * Appends the entries of pushes to the push log. A push that is not recorded gets an error as its answer:
 * OPERATION_FAILED if the entry is too large or cannot be encoded, otherwise DATABASE_UNAVAILABLE.
 *
 * @param timeout milliseconds
 */
export async function recordPushes(
  deps: ApplyDependencies,
  pushes: readonly Push[],
  timeout: number,
): Promise<void> {
  const began = performance.now();
  const written = deps.pushLog.appendAll(pushes);
  try {
    const failures = await databaseCall(deps.database.guard(written), timeout);
    for (const push of pushes) {
      const cause = failures.get(push.entry);
      if (cause === undefined) push.isRecorded = true;
      else {
        const reason = isCausedByDocument(cause) ? 'OPERATION_FAILED' : 'DATABASE_UNAVAILABLE';
        push.answer = new PushError(reason, { cause });
        finalizeEntry(deps, push.entry, reason);
      }
    }
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    for (const push of pushes) push.answer = error;
    const finalizeAll = () => {
      for (const { entry } of pushes) finalizeEntry(deps, entry, error.reason);
    };
    // The write can still be running. The entries can be finalized only after the write has ended.
    void written.then(finalizeAll, finalizeAll);
  }
  (deps.metrics ?? NO_METRICS).stage('log', began);
}

/** Finalizes the entry of a failed append: the entry can exist in spite of the error, and must not stay QUEUED. */
function finalizeEntry(
  { finalizer, clock }: ApplyDependencies,
  { _id, state }: LogEntry,
  reason: Reason,
): void {
  const settlement = { state: 'REFUSED', reason } as const;
  if (state === 'QUEUED') void finalizer.finalize({ id: String(_id), settlement }, clock());
}

/** The earlier lines of a batch on which later lines of the same matter depend. */
export class LineOrder {
  /** The request id of the last queued line of each matter, by externalId. */
  readonly last = new Map<string, string>();
  /**
   * The externalId of each matter with a line that failed with a retryable error before queueing. Later lines of the
   * matter are skipped (contract 7.2).
   */
  readonly failed = new Set<string>();
}

export interface ApplyOptions {
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly order: LineOrder;
  /** Called when the reply of a push arrives. */
  readonly onSettled?: (settlement: Settlement) => void;
}

/**
 * Rejects each valid line after a failed line of the same matter (`LineOrder.failed`). Queues the other valid pushes
 * without an answer, waits for their final states, and sets their answers.
 *
 * @returns the number of pushes that were queued
 */
export async function applyPushes(
  deps: ApplyDependencies,
  pushes: readonly Push[],
  { deadline, order, onSettled }: ApplyOptions,
): Promise<number> {
  const queued: (Push & { valid: ValidPush })[] = [];
  const pushesToQueue: PushToQueue[] = [];
  const skipped: Promise<void>[] = [];
  for (const push of pushes) {
    if (!isValid(push)) continue;
    const { entry, requestId } = push;
    const { externalId } = push.valid;
    if (push.answer) {
      // This includes STILL_QUEUED of a resend: after a later line of the matter took effect, a resend is impossible.
      if (push.answer instanceof PushError && push.answer.retryable) order.failed.add(externalId);
    } else if (order.failed.has(externalId)) {
      skipped.push(rejectRecorded(deps, push, new PushError('SKIPPED_AFTER_FAILURE')));
    } else {
      const message = messageOf(push, entry, push.valid, deps.replyTo);
      const previous = order.last.get(externalId);
      const ordered = previous === undefined ? message : { previous, ...message };
      pushesToQueue.push({ message: ordered, entry });
      queued.push(push);
      order.last.set(externalId, requestId);
    }
  }
  const settlements =
    queued.length > 0 ? await deps.queueAndWait(pushesToQueue, deadline, onSettled) : [];
  for (const [index, push] of queued.entries()) {
    push.answer = answerOf(settlements[index], push.systemCode, push.valid);
  }
  if (skipped.length > 0) await Promise.all(skipped);
  return queued.length;
}

const isValid = (push: Push): push is Push & { valid: ValidPush } => push.valid !== undefined;

/** Rejects a push that is recorded but not queued, and finalizes the entry of the push. */
export async function rejectRecorded(
  { finalizer, clock }: Pick<ApplyDependencies, 'finalizer' | 'clock'>,
  push: Push,
  answer: PushError,
): Promise<void> {
  push.answer = answer;
  const { requestId: id, entry } = push;
  const settlement = { state: 'REFUSED', reason: answer.reason } as const;
  await finalizer.finalize({ id, settlement, entry }, clock());
}

export function pushResultOf(push: Push): PushResult {
  const { requestId, line, operation, entry, isRecorded } = push;
  const { externalId } = entry;
  const answer = push.answer ?? new PushError('INTERNAL_ERROR');
  return { requestId, line, operation, externalId, answer, isRecorded };
}
