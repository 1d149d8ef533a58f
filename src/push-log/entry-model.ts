/** The push log: one entry for each authenticated request (specification 2.3; decisions). */
import { type Connection, type Model, Schema, type Types } from 'mongoose';

/** `QUEUED` until it is settled; every other state is final. */
export const LOG_STATES = ['QUEUED', 'PERSISTED', 'REPLAYED', 'REFUSED', 'EXPIRED'] as const;
export type LogState = (typeof LOG_STATES)[number];

export interface LogEntry {
  /** The request id that the caller was given. */
  _id: Types.ObjectId;
  clientId: string;
  systemCode?: string;
  operation: string;
  externalId?: string;
  idempotencyKey?: string;
  /** Digest of client, operation and idempotency key: finds reuse of a key. */
  keyId?: string;
  /**
   * Digest of client, operation, idempotency key and body, set when the push was persisted: finds
   * the outcome that a retry is answered with.
   */
  precedentKey?: string;
  /** SHA-256 of the raw body, hex. */
  bodyHash: string;
  bodySize: number;
  /** Which of the client's secrets signed. */
  secretId?: string;
  receivedAt: Date;
  /** When the caller stops waiting. */
  deadlineAt: Date;
  state: LogState;
  settledAt?: Date;
  outcome?: string;
  reason?: string;
  matterId?: bigint;
  /** The matter's revision after a push that changed it. */
  revision?: number;
  /** The entry whose outcome a replay repeated. */
  origin?: Types.ObjectId;
  mark?: 'KEY_REUSED';
  worker?: string;
}

const entrySchema = new Schema<LogEntry>(
  {
    _id: { type: Schema.Types.ObjectId, required: true },
    clientId: { type: String, required: true },
    systemCode: String,
    operation: { type: String, required: true },
    externalId: String,
    idempotencyKey: String,
    keyId: String,
    precedentKey: String,
    bodyHash: { type: String, required: true },
    bodySize: { type: Number, required: true },
    secretId: String,
    receivedAt: { type: Date, required: true },
    deadlineAt: { type: Date, required: true },
    state: { type: String, enum: LOG_STATES, required: true },
    settledAt: Date,
    outcome: String,
    reason: String,
    matterId: Schema.Types.BigInt,
    revision: Number,
    origin: Schema.Types.ObjectId,
    mark: String,
    worker: String,
  },
  { collection: 'push_log', versionKey: false },
);

entrySchema.index({ clientId: 1, _id: -1 }, { name: 'client_newest' });
entrySchema.index({ systemCode: 1, externalId: 1, _id: -1 }, { name: 'matter_history' });
entrySchema.index({ precedentKey: 1 }, { name: 'precedents', sparse: true });
entrySchema.index({ keyId: 1, _id: 1 }, { name: 'key_reuse' });
// Covers the guard of a settlement, finds what was lost on the way, and lists by what became of it.
entrySchema.index({ state: 1, _id: 1 }, { name: 'states' });

export function entryModel(connection: Connection): Model<LogEntry> {
  return connection.models.LogEntry ?? connection.model<LogEntry>('LogEntry', entrySchema);
}
