/** The push log: one entry for each authenticated request (specification 2.3; decisions). */
import { type Connection, type Model, Schema, type Types } from 'mongoose';
import type { FieldChange } from '../../domain/changes';
import type { Problem } from '../../protocol/errors';
import type { WarningInBoth } from '../../protocol/warnings';
import type { SentSignature } from './sent-signature';

/** `QUEUED` until it is settled; every other state is final. */
export const LOG_STATES = ['QUEUED', 'PERSISTED', 'REPLAYED', 'REFUSED', 'EXPIRED'] as const;
export type LogState = (typeof LOG_STATES)[number];

export interface LogEntry {
  /** The request id that the caller was given: in the order of receipt (see request-id.ts). */
  _id: Types.ObjectId;
  clientId: string;
  systemCode?: string;
  operation: string;
  externalId?: string;
  idempotencyKey?: string;
  /**
   * Digest of client, operation, idempotency key and body, set when the push was persisted: a retry
   * finds its prior result by it.
   */
  idempotencyFingerprint?: string;
  /** SHA-256 of the raw body, hex. */
  bodyHash: string;
  bodySize: number;
  /** Which of the client's secrets signed. */
  secretId?: string;
  receivedAt: Date;
  /** When the database removes the entry; absent: after PUSH_LOG_RETENTION. */
  expireAt?: Date;
  /** When the caller stops waiting. */
  deadlineAt: Date;
  /** When it was in its partition, by the clock of the queue. */
  queuedAt?: Date;
  /** When a worker took it up, by the clock of the queue. */
  startedAt?: Date;
  state: LogState;
  /** When it was persisted, rejected, or given up. */
  settledAt?: Date;
  /** Once settled: the outcome of an accepted push, else the reason of the error that it got. */
  result?: string;
  /** What was wrong with a rejected body; the first 20 problems. */
  problems?: readonly Problem[];
  /** What was accepted and looks wrong; unknown fields are the first 20. */
  warnings?: readonly WarningInBoth[];
  /** Of a request that was rejected for its signature or timestamp. */
  signature?: SentSignature;
  /** Of a push that was ignored as stale: the instant that it sent, and the newer one it met. */
  stale?: { sent: Date; stored: Date };
  matterId?: bigint;
  /** The matter's revision after a push that changed it. */
  revision?: number;
  /** What it changed in the matter. */
  changes?: readonly FieldChange[];
  /** Of a retry: the entry whose outcome it was answered with. */
  duplicateOf?: Types.ObjectId;
  /** Of an operator's resend: the entry whose push it sent again. */
  resentFrom?: Types.ObjectId;
  /** Who sent it again. */
  operator?: string;
  mark?: 'KEY_REUSED';
  worker?: string;
  /** Of its request, where TRACING was on: 32 hex digits. */
  traceId?: string;
}

const entrySchema = new Schema<LogEntry>(
  {
    _id: { type: Schema.Types.ObjectId, required: true },
    clientId: { type: String, required: true },
    systemCode: String,
    operation: { type: String, required: true },
    externalId: String,
    idempotencyKey: String,
    idempotencyFingerprint: String,
    bodyHash: { type: String, required: true },
    bodySize: { type: Number, required: true },
    secretId: String,
    receivedAt: { type: Date, required: true },
    expireAt: Date,
    deadlineAt: { type: Date, required: true },
    queuedAt: Date,
    startedAt: Date,
    state: { type: String, enum: LOG_STATES, required: true },
    settledAt: Date,
    result: String,
    problems: { type: Schema.Types.Mixed, default: undefined },
    warnings: { type: Schema.Types.Mixed, default: undefined },
    signature: { type: Schema.Types.Mixed, default: undefined },
    stale: { type: Schema.Types.Mixed, default: undefined },
    matterId: Schema.Types.BigInt,
    revision: Number,
    changes: { type: Schema.Types.Mixed, default: undefined },
    duplicateOf: Schema.Types.ObjectId,
    resentFrom: Schema.Types.ObjectId,
    operator: String,
    mark: String,
    worker: String,
    traceId: String,
  },
  { collection: 'push_log', versionKey: false },
);

// Costs nothing where there is no such field: it is of rejections that anybody may have caused.
entrySchema.index({ expireAt: 1 }, { name: 'expiry', sparse: true, expireAfterSeconds: 0 });
// Each way of searching the log has an index that ends with the id, which is the order of receipt.
entrySchema.index({ systemCode: 1, _id: -1 }, { name: 'system_newest' });
entrySchema.index({ systemCode: 1, result: 1, _id: -1 }, { name: 'results' });
entrySchema.index({ systemCode: 1, externalId: 1, _id: -1 }, { name: 'matter_history' });
entrySchema.index({ systemCode: 1, idempotencyKey: 1, _id: -1 }, { name: 'key_uses' });
entrySchema.index(
  { idempotencyFingerprint: 1 },
  { name: 'idempotency_fingerprints', sparse: true },
);
entrySchema.index({ resentFrom: 1 }, { name: 'resends', sparse: true });

export function entryModel(connection: Connection): Model<LogEntry> {
  return connection.models.LogEntry ?? connection.model<LogEntry>('LogEntry', entrySchema);
}
