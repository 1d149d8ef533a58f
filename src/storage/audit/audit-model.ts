/** The audit trail: what operators changed, who it was, and what came of it. Kept for good. */
import { type Connection, type Model, Schema, type Types } from 'mongoose';

/** `STARTED` until the command has ended; it stays so where the command was killed. */
export const AUDIT_OUTCOMES = ['STARTED', 'DONE', 'FAILED'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Named values, as JSON knows them. Never a secret. */
export type AuditDetails = Readonly<Record<string, unknown>>;

export interface AuditEntry {
  _id: Types.ObjectId;
  /** Just before the change, by the clock of the operator's host. */
  at: Date;
  operator: string;
  host: string;
  /** For example `client rotate`. */
  command: string;
  /** What it was done to, as operators call it: a client, a file; null: no one thing. */
  subject: string | null;
  /** Where it concerned one client. */
  clientId?: string;
  /** What was asked for. */
  details: AuditDetails;
  outcome: AuditOutcome;
  endedAt: Date | null;
  /** What came of it. */
  result: AuditDetails;
  /** Why it failed. */
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

// Each way of asking has an index that ends with the order of the answer.
auditSchema.index({ at: -1, _id: -1 }, { name: 'newest' });
auditSchema.index({ operator: 1, at: -1, _id: -1 }, { name: 'operator_newest' });
auditSchema.index({ clientId: 1, at: -1, _id: -1 }, { name: 'client_newest' });

export function auditModel(connection: Connection): Model<AuditEntry> {
  return connection.models.AuditEntry ?? connection.model<AuditEntry>('AuditEntry', auditSchema);
}
