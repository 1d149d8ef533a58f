/** The documents of the push log: entries (contract 5.3) and bodies. `protocol/log-entry.ts` describes the fields. */

import { createHash } from 'node:crypto';
import { type Connection, type Model, type mongo, Schema, Types } from 'mongoose';
import type { FieldChange } from '../../domain/changes';
import { nativeCollection } from '../../infra/mongo';
import type { EntryField, StoredForm } from '../../protocol/entry-field';
import type { Problem } from '../../protocol/errors';
import { ENTRY_FIELDS, type EntryFields } from '../../protocol/log-entry';
import { LOG_STATES, type LogState } from '../../protocol/log-states';
import type { LocalizedWarning } from '../../protocol/warnings';

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

type StoredFields<Optional extends boolean> = {
  -readonly [Name in keyof EntryFields as EntryFields[Name] extends EntryField<StoredForm, Optional>
    ? Name
    : never]: ValueOf<EntryFields[Name]>;
};
type ValueOf<Field> = Field extends { stored: infer Form extends StoredForm }
  ? Stored[Form]
  : never;

export interface LogEntry extends StoredFields<false>, Partial<StoredFields<true>> {
  /** The request id. Request ids sort by time of receipt (`request-id.ts`). */
  _id: Types.ObjectId;
  state: LogState;
  /** The outcome or the reason; absent while the push is queued. */
  result?: string;
  /** The first 20 problems of a rejected request. */
  problems?: readonly Problem[];
  warnings?: readonly LocalizedWarning[];
  /** Present if the request was rejected because of its signature or timestamp. */
  signature?: SentSignature;
  /** `sourceUpdatedAt` of a stale push (`sent`) and of the matter (`stored`). */
  stale?: { sent: Date; stored: Date };
  changes?: readonly FieldChange[];
  /** Set if an earlier push had the same idempotency key and another body. */
  mark?: 'KEY_REUSED';
}

export type RequestFields = Partial<StoredFields<true>>;

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

export const KEY_INDEX = 'idempotency_keys';
/** Only entries in the states QUEUED and PERSISTED have the field `idempotencyFingerprint`. */
export const FINGERPRINT_INDEX = 'idempotency_fingerprints';
export const RESENT_INDEX = 'resends';

// Only entries of unauthenticated requests (`UNAUTHENTICATED_REASONS`) have the field `expireAt`.
entrySchema.index({ expireAt: 1 }, { name: 'expiry', sparse: true, expireAfterSeconds: 0 });
// Searches (`log-filter.ts`) use the next four indexes.
entrySchema.index({ systemCode: 1, _id: -1 }, { name: 'system_newest' });
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

// The header X-Signature is not stored, because a faulty client can send its secret there.

export interface SentSignature {
  /** The header X-Timestamp, if the header looks like a time. */
  timestamp?: string;
  /** Number of characters of X-Signature. */
  length: number;
  /** SHA-256 of X-Signature, hex. */
  hash: string;
}

const TIME_LIKE = /^(?=.*\d)[\dTZ.:+ -]{1,40}$/;
const HEX = /^[0-9a-fA-F]+$/;

export function sentSignature(timestamp: string, signature: string): SentSignature {
  return {
    ...(TIME_LIKE.test(timestamp) && { timestamp }),
    length: signature.length,
    hash: hashSignature(signature),
  };
}

/** A signature of hex digits has the same hash in upper and lower case. */
export function hashSignature(text: string): string {
  const plain = HEX.test(text) ? text.toLowerCase() : text;
  return createHash('sha256').update(plain).digest('hex');
}

// Bodies have a separate collection, because bodies are deleted earlier than entries (PUSH_BODY_RETENTION).

export interface LoggedBody {
  _id: Types.ObjectId;
  body: Buffer;
  receivedAt: Date;
  expireAt?: Date;
}

const bodySchema = new Schema<LoggedBody>(
  {
    _id: { type: Schema.Types.ObjectId, required: true },
    body: { type: Buffer, required: true },
    receivedAt: { type: Date, required: true },
    expireAt: Date,
  },
  { collection: 'push_bodies', versionKey: false },
);

bodySchema.index({ expireAt: 1 }, { name: 'expiry', sparse: true, expireAfterSeconds: 0 });

export function bodyModel(connection: Connection): Model<LoggedBody> {
  return connection.models.LoggedBody ?? connection.model<LoggedBody>('LoggedBody', bodySchema);
}

export interface Bodies {
  find(ids: readonly string[]): Promise<Map<string, Buffer>>;
}

const TIMEOUT = 10_000;

export function createBodies(connection: Connection): Bodies {
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  return {
    find: async (ids) => {
      if (ids.length === 0) return new Map();
      const found = await collection
        .find({ _id: { $in: ids.map((id) => new Types.ObjectId(id)) } }, { maxTimeMS: TIMEOUT })
        .project<{ _id: Types.ObjectId; body: Buffer | mongo.Binary }>({ body: 1 })
        .toArray();
      return new Map(found.map(({ _id, body }) => [String(_id), storedBytes(body)]));
    },
  };
}

export const storedBytes = (body: Buffer | mongo.Binary) =>
  Buffer.isBuffer(body) ? body : Buffer.from(body.buffer);
