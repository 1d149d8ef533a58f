/**
 * The push log: one entry for each authenticated request (specification 2.3; decisions). Its fields are
 * described in protocol/log-entry.ts; here stands what each form of them is in the database.
 */
import { type Connection, type Model, Schema, type Types } from 'mongoose';
import type { FieldChange } from '../../domain/changes';
import type { EntryField, StoredForm } from '../../protocol/entry-field';
import type { Problem } from '../../protocol/errors';
import { ENTRY_FIELDS, type EntryFields } from '../../protocol/log-entry';
import { LOG_STATES, type LogState } from '../../protocol/log-states';
import type { WarningInBoth } from '../../protocol/warnings';
import type { SentSignature } from './sent-signature';

interface Stored {
  readonly text: string;
  readonly number: number;
  readonly instant: Date;
  readonly requestId: Types.ObjectId;
  readonly matterId: bigint;
}

const TYPES: Readonly<Record<StoredForm, unknown>> = {
  text: String,
  number: Number,
  instant: Date,
  requestId: Schema.Types.ObjectId,
  matterId: Schema.Types.BigInt,
};

/** Fields that are stored in one of those forms, of every entry or of some. */
type StoredFields<Optional extends boolean> = {
  -readonly [Name in keyof EntryFields as EntryFields[Name] extends EntryField<StoredForm, Optional>
    ? Name
    : never]: ValueOf<EntryFields[Name]>;
};
type ValueOf<Field> = Field extends { stored: infer Form extends StoredForm }
  ? Stored[Form]
  : never;

export interface LogEntry extends StoredFields<false>, Partial<StoredFields<true>> {
  /** The request id that the caller was given: in the order of receipt (see request-id.ts). */
  _id: Types.ObjectId;
  state: LogState;
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
  /** What it changed in the matter. */
  changes?: readonly FieldChange[];
  mark?: 'KEY_REUSED';
}

/** Fields that only the HTTP side of a request knows (http/request-fields.ts); all of them may be absent. */
export type RequestFields = Partial<StoredFields<true>>;

/** Which bytes were sent. */
export type BodyDigest = Pick<LogEntry, 'bodyHash' | 'bodySize'>;

const STRUCTURED = { type: Schema.Types.Mixed, default: undefined };

const entrySchema = new Schema<LogEntry>(
  {
    ...storedTypes(),
    _id: { type: Schema.Types.ObjectId, required: true },
    state: { type: String, enum: LOG_STATES, required: true },
    result: String,
    problems: STRUCTURED,
    warnings: STRUCTURED,
    signature: STRUCTURED,
    stale: STRUCTURED,
    changes: STRUCTURED,
    mark: String,
  },
  { collection: 'push_log', versionKey: false },
);

function storedTypes() {
  const fields = Object.entries<EntryField>(ENTRY_FIELDS).flatMap(([name, { stored, optional }]) =>
    stored === undefined ? [] : [[name, { type: TYPES[stored], required: !optional }] as const],
  );
  return Object.fromEntries(fields);
}

/** Of entries that have an idempotency key. */
export const KEY_INDEX = 'idempotency_keys';
/** Of those that are queued or took effect. */
export const FINGERPRINT_INDEX = 'idempotency_fingerprints';
/** Of operators' resends. */
export const RESENT_INDEX = 'resends';

// Costs nothing where there is no such field: it is of rejections that anybody may have caused.
entrySchema.index({ expireAt: 1 }, { name: 'expiry', sparse: true, expireAfterSeconds: 0 });
// Each way of searching the log has an index that ends with the id, which is the order of receipt.
entrySchema.index({ systemCode: 1, _id: -1 }, { name: 'system_newest' });
// Of failures alone: a settlement that sets no field of an index costs the database half of one that does.
entrySchema.index(
  { systemCode: 1, failure: 1, _id: -1 },
  { name: 'failures', partialFilterExpression: { failure: { $exists: true } } },
);
entrySchema.index({ systemCode: 1, externalId: 1, _id: -1 }, { name: 'matter_history' });
entrySchema.index(
  { systemCode: 1, idempotencyKey: 1, _id: -1 },
  { name: KEY_INDEX, partialFilterExpression: { idempotencyKey: { $exists: true } } },
);
entrySchema.index({ idempotencyFingerprint: 1 }, { name: FINGERPRINT_INDEX, sparse: true });
entrySchema.index({ resentFrom: 1 }, { name: RESENT_INDEX, sparse: true });

export function entryModel(connection: Connection): Model<LogEntry> {
  return connection.models.LogEntry ?? connection.model<LogEntry>('LogEntry', entrySchema);
}
