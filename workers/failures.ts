/** Classifies the failures of a batch: the whole batch fails, some groups are retried, or some groups are rejected. */

import { isCausedByDocument, isConflict, isOutage } from '../src/infra/driver-errors';
import { LeaseLost } from '../src/queue/commands/worker-number';
import { SessionReplaced } from '../src/storage/sessions';

/**
 * Another process has changed a matter or settled a push of the commit, or the majority has not confirmed a prior
 * result. A retry reads the matters and the prior results again.
 */
export class CommitConflict extends Error {
  override readonly name = 'CommitConflict';
}

/** `planBatch` failed for a group. The cause is a bug, or a matter that was edited manually. */
export class PlanFailed extends Error {
  override readonly name = 'PlanFailed';
}

/**
 * The worker no longer owns the partitions of the batch, or Redis does not confirm that the worker owns them. Another
 * worker may have applied pushes that follow this batch in the queue. So this worker must not apply or finalize pushes.
 */
export class PartitionsLost extends Error {
  override readonly name = 'PartitionsLost';
}

/**
 * Whether the whole batch fails. Causes: the database is unavailable, the result of a commit is unknown, the session
 * was replaced, or the worker lost its number or partitions. A later sweep (queue/balance.ts) schedules a job for each
 * partition of the batch.
 */
export function failsWholeBatch(error: unknown): boolean {
  const isLost = error instanceof LeaseLost || error instanceof PartitionsLost;
  return isLost || error instanceof SessionReplaced || isOutage(error);
}

/** Whether another process changes or locks the same documents. A retry may succeed. */
export function isContention(error: unknown): boolean {
  return error instanceof CommitConflict || isConflict(error);
}

/**
 * Whether the failure is caused by a push or a matter of the group: a document cannot be stored, or `planBatch` fails.
 */
export function isFinal(error: unknown): boolean {
  return error instanceof PlanFailed || isCausedByDocument(error);
}
