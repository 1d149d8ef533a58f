/** A client: a third-party system that may push (specification 5.3). */
import { type Connection, type Model, Schema } from 'mongoose';
import type { RateOverride } from './rate-override';

export interface ClientSecret {
  /** Names the secret in push-log entries, never reveals it. */
  id: string;
  sealed: string;
  createdAt: Date;
  /** While rotating, when the old secret ends; null: no end. */
  expiresAt: Date | null;
}

/** A key beside the secrets, for people in a browser (decisions, "Query keys"); it always has an end. */
export interface QueryKey {
  /** Among the secrets of the client no other one has it. */
  id: string;
  sealed: string;
  createdAt: Date;
  /** Of one that was revoked, when that happened. */
  expiresAt: Date;
  revoked?: boolean;
  /** Its scope is `query` and `push`; otherwise `query` alone. */
  mayPush: boolean;
}

/** An operator's word that a client is to wait; its queries go on. */
export interface ClientPause {
  since: Date;
  /** Told to the client with every rejection. */
  reason?: string;
}

export interface ClientRecord {
  _id: string;
  type: 'CONFIDENTIAL' | 'PUBLIC';
  systemCode: string | null;
  enabled: boolean;
  /** At most two: the current one first, then the one that is being rotated out. */
  secrets: ClientSecret[];
  /** Absent: it never had one. What ended is kept for a day, for the diagnosis of rejected signatures. */
  queryKeys?: QueryKey[];
  /** Its own rate; absent: that of the settings. */
  limit?: RateOverride;
  createdAt: Date;
  /** Absent: its pushes are taken. */
  paused?: ClientPause;
}

const secretSchema = new Schema<ClientSecret>(
  { id: String, sealed: String, createdAt: Date, expiresAt: { type: Date, default: null } },
  { _id: false },
);

const queryKeySchema = new Schema<QueryKey>(
  {
    id: String,
    sealed: String,
    createdAt: Date,
    expiresAt: { type: Date, required: true },
    revoked: Boolean,
    mayPush: { type: Boolean, default: false },
  },
  { _id: false },
);

const pauseSchema = new Schema<ClientPause>({ since: Date, reason: String }, { _id: false });
const limitSchema = new Schema<RateOverride>({ rate: Number, burst: Number }, { _id: false });

const clientSchema = new Schema<ClientRecord>(
  {
    _id: { type: String, required: true },
    type: { type: String, enum: ['CONFIDENTIAL', 'PUBLIC'], required: true },
    systemCode: { type: String, default: null },
    enabled: { type: Boolean, default: true },
    secrets: { type: [secretSchema], default: [] },
    queryKeys: { type: [queryKeySchema], default: undefined },
    limit: { type: limitSchema, default: undefined },
    createdAt: { type: Date, required: true },
    paused: pauseSchema,
  },
  { collection: 'clients', versionKey: false },
);

export function clientModel(connection: Connection): Model<ClientRecord> {
  return connection.models.Client ?? connection.model<ClientRecord>('Client', clientSchema);
}
