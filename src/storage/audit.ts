/**
 * The audit trail: each entry records one change by an operator. The entry is written before the change, and is never
 * deleted.
 */

import { type Connection, type Model, Schema, Types } from 'mongoose';
import { type Clock, systemClock } from '../concurrency/timing';

export type Action = Pick<
  AuditEntry,
  'operator' | 'host' | 'command' | 'subject' | 'clientId' | 'details'
>;

export interface AuditEnd {
  readonly result: AuditDetails;
  /** Null if the action succeeded. */
  readonly error: string | null;
}

export interface AuditFilter {
  /** Epoch milliseconds, inclusive. */
  readonly since?: number;
  readonly operator?: string;
  readonly clientId?: string;
}

export interface AuditTrail {
  /**
   * @returns a function that records the result of the action
   * @throws the driver's error
   */
  begin(action: Action): Promise<(end: AuditEnd) => Promise<void>>;
  /** Newest entry first. */
  list(filter: AuditFilter, limit: number): Promise<AuditEntry[]>;
}

export function createAuditTrail(connection: Connection, clock: Clock): AuditTrail {
  const model = auditModel(connection);
  return {
    begin: async (action) => {
      const _id = new Types.ObjectId();
      const details = present(action.details);
      await model.create({ ...action, details, _id, at: new Date(clock()), outcome: 'STARTED' });
      return async ({ result, error }) => {
        const outcome = error === null ? 'DONE' : 'FAILED';
        const end = { outcome, endedAt: new Date(clock()), result: present(result), error };
        await model.updateOne({ _id }, { $set: end });
      };
    },
    list: ({ since, operator, clientId }, limit) =>
      model
        .find({
          ...(since !== undefined && { at: { $gte: new Date(since) } }),
          ...(operator !== undefined && { operator }),
          ...(clientId !== undefined && { clientId }),
        })
        .sort({ at: -1, _id: -1 })
        .limit(limit)
        .lean<AuditEntry[]>()
        .exec(),
  };
}

function present(details: AuditDetails): AuditDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

/** An entry stays `STARTED` if the command was killed or could not write the result. */
export const AUDIT_OUTCOMES = ['STARTED', 'DONE', 'FAILED'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Options or results of a command. Must not contain secrets. */
export type AuditDetails = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  _id: Types.ObjectId;
  at: Date;
  operator: string;
  host: string;
  /** For example `client rotate`. */
  command: string;
  /** For example a client id or a file name. */
  subject: string | null;
  /** Present if the change concerned one client. */
  clientId?: string;
  details: AuditDetails;
  outcome: AuditOutcome;
  endedAt: Date | null;
  result: AuditDetails;
  error: string | null;
}

const auditSchema = new Schema<AuditEntry>(
  {
    _id: { type: Schema.Types.ObjectId, required: true },
    at: { type: Date, required: true },
    operator: { type: String, required: true },
    host: { type: String, required: true },
    command: { type: String, required: true },
    subject: { type: String, default: null },
    clientId: String,
    details: { type: Schema.Types.Mixed, default: {} },
    outcome: { type: String, enum: AUDIT_OUTCOMES, required: true },
    endedAt: { type: Date, default: null },
    result: { type: Schema.Types.Mixed, default: {} },
    error: { type: String, default: null },
  },
  { collection: 'audit', versionKey: false, minimize: false },
);

auditSchema.index({ at: -1, _id: -1 }, { name: 'newest' });
auditSchema.index({ operator: 1, at: -1, _id: -1 }, { name: 'operator_newest' });
auditSchema.index({ clientId: 1, at: -1, _id: -1 }, { name: 'client_newest' });

export function auditModel(connection: Connection): Model<AuditEntry> {
  return connection.models.AuditEntry ?? connection.model<AuditEntry>('AuditEntry', auditSchema);
}

/** The audit entry could not be written, so the command changed nothing. */
export class NoAuditTrailError extends Error {
  override readonly name = 'NoAuditTrailError';
}

export interface EntryOptions {
  readonly explain: (error: unknown) => string;
  /** Called if the result could not be written. */
  readonly onUnended: (cause: unknown) => void;
}

/**
 * @param work makes the change and reports the result
 * @throws NoAuditTrailError, or the error of `work`
 */
export async function withAuditEntry<T>(
  connection: Connection,
  action: Action,
  work: (report: (result: AuditDetails) => void) => Promise<T>,
  { explain, onUnended }: EntryOptions,
): Promise<T> {
  const begun = createAuditTrail(connection, systemClock).begin(action);
  const writeEnd = await begun.catch((cause) => {
    const why = `nothing was changed, because the audit trail cannot be written: ${explain(cause)}`;
    throw new NoAuditTrailError(why, { cause });
  });
  let result: AuditDetails = {};
  const end = (error: string | null) => writeEnd({ result, error }).catch(onUnended);
  try {
    const value = await work((reported) => {
      result = reported;
    });
    await end(null);
    return value;
  } catch (error) {
    await end(explain(error));
    throw error;
  }
}
