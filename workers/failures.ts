/** Classifies the failures of a batch: the whole batch fails, some groups are retried, or some groups are rejected. */

import { isCausedByDocument, isConflict, isOutage } from '../src/infra/driver-errors';
import { LeaseLost } from '../src/queue/commands/worker-number';
import { SessionReplaced } from '../src/storage/sessions';

/**
 * Another process has changed a matter or settled a push of the commit, or a prior result (`pushes/idempotency.ts`) is
 * not confirmed by the majority.
 */
export class CommitConflict extends Error {
  override readonly name = 'CommitConflict';
}

/** `planBatch` failed for a group, because of a bug or a manually edited matter. */
export class PlanFailed extends Error {
  override readonly name = 'PlanFailed';
}

/**
 * The worker no longer owns the partitions of the batch, or Redis does not confirm the ownership. Another worker may
 * have applied later pushes of the same matters, so this worker must not apply or finalize pushes.
 */
export class PartitionsLost extends Error {
  override readonly name = 'PartitionsLost';
}

/** Whether the whole batch fails. A later sweep (queue/balance.ts) schedules a job for each partition of the batch. */
export function failsWholeBatch(error: unknown): boolean {
  const isLost = error instanceof LeaseLost || error instanceof PartitionsLost;
  return isLost || error instanceof SessionReplaced || isOutage(error);
}

/** Whether another process changes or locks the same documents. */
export function isContention(error: unknown): boolean {
  return error instanceof CommitConflict || isConflict(error);
}

/** Whether a push or matter of the group causes the failure: a document cannot be stored, or `planBatch` fails. */
export function isFinal(error: unknown): boolean {
  return error instanceof PlanFailed || isCausedByDocument(error);
}
