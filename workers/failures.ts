/** What the failure of a batch means: that it ends as a whole, or that some group is to be tried again. */
import { LeaseLost } from '../src/queue/worker-number';
import { isCausedByDocument, isConflict, isOutage } from '../src/storage/driver-errors';
import { SessionReplaced } from '../src/storage/sessions/session-pool';

/** A guard failed: what was read is no longer so. Read again, and decide again. */
export class CommitConflict extends Error {
  override readonly name = 'CommitConflict';
}

/** The operations of a group cannot be folded: a defect, or a matter that was changed by hand. */
export class PlanFailed extends Error {
  override readonly name = 'PlanFailed';
}

/** The worker does not hold the batch's partitions any more. */
export class PartitionsLost extends Error {
  override readonly name = 'PartitionsLost';
}

/**
 * Whether the database (or the lease of ids) is away, the outcome of a commit unknown, or the batch was
 * given up: it must fail as a whole, and the partition be read again when the sweep schedules it.
 */
export function failsWholeBatch(error: unknown): boolean {
  return error instanceof LeaseLost || error instanceof SessionReplaced || isOutage(error);
}

/**
 * Whether somebody else keeps changing, or holds, what the push is about: the push is in order, and
 * may go through a moment later.
 */
export function isContention(error: unknown): boolean {
  return error instanceof CommitConflict || isConflict(error);
}

/**
 * Whether the failure is final for the push: its document or its matter causes it. Every other failure is
 * one of the installation, and the push may be sent again.
 */
export function isFinal(error: unknown): boolean {
  return error instanceof PlanFailed || isCausedByDocument(error);
}
