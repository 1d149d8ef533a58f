/** Transactions: what is written in one is confirmed together, or not at all. */
import type { mongo } from 'mongoose';
import { throwAsDriverError } from './driver-errors';
import { CONFIRMED } from './mongo';

/**
 * Runs `work` in one transaction: everything in it is confirmed by one journal sync, or none is.
 * Nothing is retried here; a caller knows better what has to be read again.
 *
 * @param session of the caller's, which may be used again afterwards
 */
export async function inTransaction<T>(
  session: mongo.ClientSession,
  work: (session: mongo.ClientSession) => Promise<T>,
): Promise<T> {
  // Outside: one that is open already is somebody else's, and not to be aborted here.
  session.startTransaction({ writeConcern: CONFIRMED });
  try {
    const result = await work(session);
    await session.commitTransaction().catch(throwAsDriverError);
    return result;
  } catch (error) {
    if (session.inTransaction()) await session.abortTransaction();
    throw error;
  }
}
