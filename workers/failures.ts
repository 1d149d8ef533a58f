/** Which failures of a batch mean what. */
import { mongo } from 'mongoose';
import { LeaseLost } from '../src/queue/worker-number';
import { AWAY, isSocketError } from '../src/storage/mongo';
import { SessionReplaced } from '../src/storage/session-pool';

/** A guard failed: what was read is no longer so. Read again, and decide again. */
export class CommitConflict extends Error {
  override readonly name = 'CommitConflict';
}

/**
 * Whether the database (or the lease of ids) is away, the outcome of a commit unknown, or the batch was
 * given up: it must fail as a whole, and the partition be read again when the sweep schedules it.
 * Conflicts between transactions are not that.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof LeaseLost || error instanceof SessionReplaced) return true;
  if (isSocketError(error)) return true;
  if (!(error instanceof mongo.MongoError)) return false;
  if (error.hasErrorLabel('UnknownTransactionCommitResult')) return true;
  if (error.code === WRITE_CONFLICT) return false;
  if (typeof error.code === 'number' && AWAY.has(error.code)) return true;
  // The driver puts a connection that broke in a bulk write into this one; a server's word has a code.
  if (error instanceof mongo.MongoBulkWriteError && typeof error.code !== 'number') return true;
  return (
    error instanceof mongo.MongoNetworkError ||
    error instanceof mongo.MongoServerSelectionError ||
    error instanceof mongo.MongoNotConnectedError ||
    error.name === 'MongoWaitQueueTimeoutError' ||
    error instanceof mongo.MongoTopologyClosedError ||
    error instanceof mongo.MongoClientClosedError ||
    error.hasErrorLabel('TransientTransactionError') ||
    error.hasErrorLabel('RetryableWriteError')
  );
}

/**
 * Whether somebody else keeps changing, or holds, what the push is about: the push is in order, and
 * may go through a moment later.
 */
export function isContention(error: unknown): boolean {
  if (error instanceof CommitConflict) return true;
  const code = error instanceof mongo.MongoError ? error.code : undefined;
  return code === WRITE_CONFLICT || code === DUPLICATE_KEY;
}

const WRITE_CONFLICT = 112;
const DUPLICATE_KEY = 11_000;
