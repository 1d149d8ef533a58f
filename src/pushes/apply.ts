/** Records pushes in the push log, and queues the valid pushes. */
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
  answer: PushAnswer | undefined;
  readonly fingerprint: string | undefined;
  isRecorded: boolean;
}

export interface PushSource extends EntrySource {
  readonly caller: EntrySource['caller'] & { readonly systemCode: string };
  readonly line?: number;
}

export interface Validated {
  readonly checked: ValidPush | PushError;
  /** Undefined: the operation could not be read. */
  readonly operation: OperationName | undefined;
  /** Set for an invalid body with a readable externalId. */
  readonly externalId?: string | undefined;
  /** @returns the idempotency fingerprint (idempotency.ts); undefined if retries are not detected */
  readonly fingerprintOf: (entry: LogEntry) => string | undefined;
}

/** @param timeout milliseconds from the receipt of the request to the deadline */
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
  /** Identifies the reply channel of this process. */
  readonly replyTo: string;
  readonly clock: Clock;
  readonly metrics?: Metrics;
}

/** @param timeout milliseconds */
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
    // After a timeout, the write can still add QUEUED entries, so `finalizeAll` runs after the write.
    void written.then(finalizeAll, finalizeAll);
  }
  (deps.metrics ?? NO_METRICS).stage('log', began);
}

/** Settles an entry that a failed append may have written as QUEUED. */
function finalizeEntry(
  { finalizer, clock }: ApplyDependencies,
  { _id, state }: LogEntry,
  reason: Reason,
): void {
  const settlement = { state: 'REFUSED', reason } as const;
  if (state === 'QUEUED') void finalizer.finalize({ id: String(_id), settlement }, clock());
}

export class LineOrder {
  /** For each externalId, the request id of the last queued line. */
  readonly last = new Map<string, string>();
  /**
   * The externalIds of lines that failed with a retryable error before queueing. Later lines with the same externalId
   * are skipped (contract 7.2).
   */
  readonly failed = new Set<string>();
}

export interface ApplyOptions {
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly order: LineOrder;
  readonly onSettled?: (settlement: Settlement) => void;
}

/**
 * Rejects lines whose externalId is in `order.failed`. Queues the other valid pushes that have no answer yet, and
 * waits for the replies.
 *
 * @returns the number of queued pushes
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

/** Rejects a push that is recorded and will not be queued. */
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
