/** Writes and reads the audit trail. An entry is there before the change that it tells of. */
import { type Connection, Types } from 'mongoose';
import type { Clock } from '../../concurrency/clock';
import { type AuditDetails, type AuditEntry, auditModel } from './audit-model';

export type Action = Pick<
  AuditEntry,
  'operator' | 'host' | 'command' | 'subject' | 'clientId' | 'details'
>;

export interface AuditEnd {
  readonly result: AuditDetails;
  /** Why it failed; null: it is done. */
  readonly error: string | null;
}

export interface AuditFilter {
  /** Epoch milliseconds. */
  readonly since?: number;
  readonly operator?: string;
  readonly clientId?: string;
}

export interface AuditTrail {
  /**
   * Writes the entry of an action that is about to begin.
   *
   * @returns to be told how it ended
   * @throws where the entry is not confirmed: nothing may be changed then
   */
  begin(action: Action): Promise<(end: AuditEnd) => Promise<void>>;
  /** The newest first. */
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

/** What was not asked for leaves no trace. */
function present(details: AuditDetails): AuditDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}
