/** Classifies the errors of a batch. */

import { isCausedByDocument, isConflict, isOutage } from '../src/infra/driver-errors';
import { LeaseLost } from '../src/queue/commands/worker-number';
import { SessionReplaced } from '../src/storage/sessions';

/** Concurrent or unconfirmed writes prevent the commit. */
export class CommitConflict extends Error {
  override readonly name = 'CommitConflict';
}

/** `planBatch` failed for a group, because of a bug or a manually edited matter. */
export class PlanFailed extends Error {
  override readonly name = 'PlanFailed';
}

/** Redis does not confirm that this worker still owns the partitions of the batch. */
export class PartitionsLost extends Error {
  override readonly name = 'PartitionsLost';
}

export function failsWholeBatch(error: unknown): boolean {
  const isLost = error instanceof LeaseLost || error instanceof PartitionsLost;
  return isLost || error instanceof SessionReplaced || isOutage(error);
}

/** Whether other writes to the database cause the failure. */
export function isContention(error: unknown): boolean {
  return error instanceof CommitConflict || isConflict(error);
}

/** Whether a retry would fail too. */
export function isFinal(error: unknown): boolean {
  return error instanceof PlanFailed || isCausedByDocument(error);
}
