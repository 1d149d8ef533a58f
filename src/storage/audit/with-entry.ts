/** A change and its entry in the audit trail: no change without one. */
import type { Connection } from 'mongoose';
import { systemClock } from '../../concurrency/clock';
import type { AuditDetails } from './audit-model';
import { type Action, createAuditTrail } from './trail';

/** The entry could not be written: nothing was changed. */
export class NoAuditTrailError extends Error {
  override readonly name = 'NoAuditTrailError';
}

export interface EntryOptions {
  /** What the entry says of an error. */
  readonly explain: (error: unknown) => string;
  /** Told where the change is made and its entry stays `STARTED`. */
  readonly onUnended: (cause: unknown) => void;
}

/**
 * Runs `work` between the two writes of its entry.
 *
 * @param work changes something; tells the trail what came of it, also where it fails then
 * @throws NoAuditTrailError where the trail cannot be written, and what `work` throws
 */
export async function withAuditEntry<T>(
  connection: Connection,
  action: Action,
  work: (tell: (result: AuditDetails) => void) => Promise<T>,
  { explain, onUnended }: EntryOptions,
): Promise<T> {
  const begun = createAuditTrail(connection, systemClock).begin(action);
  const writeEnd = await begun.catch((cause) => {
    const why = `nothing was changed, for want of an audit trail: ${explain(cause)}`;
    throw new NoAuditTrailError(why, { cause });
  });
  let result: AuditDetails = {};
  const end = (error: string | null) => writeEnd({ result, error }).catch(onUnended);
  try {
    const value = await work((told) => {
      result = told;
    });
    await end(null);
    return value;
  } catch (error) {
    await end(explain(error));
    throw error;
  }
}
