/** Defines and reads client records. A client is a business system that sends pushes (contract 1.1). */
import { type Connection, type Model, Schema } from 'mongoose';
import { checkRateOverride, type RateOverride } from './rate-override';
import type { KeyRing } from './sealing';
import { readSecretUses } from './secret-uses';

export interface ClientSecret {
  /** Identifies the secret in the push log. */
  id: string;
  /** The encrypted secret (`sealing.ts`). */
  sealed: string;
  createdAt: Date;
  /** Null until a rotation replaces this secret. */
  expiresAt: Date | null;
}

/** A key for a person who uses the browser console (contract 3.5). */
export interface QueryKey {
  id: string;
  sealed: string;
  createdAt: Date;
  expiresAt: Date;
  revoked?: boolean;
  /** True: the key has the scopes `query` and `push`; false: only `query`. */
  mayPush: boolean;
  /** True: answers omit titles, summaries, contents, payloads and stored bodies. */
  noBodies?: boolean;
}

/** A pause by an operator. `web` rejects the pushes of a paused client. */
export interface ClientPause {
  since: Date;
  /** The answer to each rejected push contains this text. */
  reason?: string;
}

export interface ClientRecord {
  _id: string;
  type: 'CONFIDENTIAL' | 'PUBLIC';
  systemCode: string | null;
  enabled: boolean;
  /** At most two: the current secret, then the previous secret. */
  secrets: ClientSecret[];
  /** Can include expired keys. */
  queryKeys?: QueryKey[];
  /** Absent: RATE_LIMIT and RATE_BURST apply. */
  limit?: RateOverride;
  createdAt: Date;
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
    noBodies: Boolean,
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

export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';
}

export const unknownClient = (clientId: string) =>
  new DirectoryError(`there is no client ${clientId}`);

/** A secret or query key, possibly expired. Authentication must not use this type. */
export interface StoredSecret {
  readonly id: string;
  readonly secret: string;
  /** Expiry in epoch milliseconds; absent if the secret does not expire. */
  readonly endsAt?: number;
  readonly isQueryKey?: boolean;
}

/** Returns the current secret first. */
export type FindStoredSecrets = (clientId: string) => Promise<readonly StoredSecret[]>;

export function createFindStoredSecrets(
  connection: Connection,
  keyRing: KeyRing,
): FindStoredSecrets {
  return async (clientId) => {
    const record = await clientModel(connection).findById(clientId).lean();
    const { secrets = [], queryKeys = [] } = record ?? {};
    const open = ({ id, sealed, expiresAt }: ClientSecret | QueryKey): StoredSecret[] => {
      try {
        const secret = keyRing.open(sealed, clientId);
        return [{ id, secret, ...(expiresAt && { endsAt: expiresAt.getTime() }) }];
      } catch {
        // Logs nothing: the client directory (`directory.ts`) already logs valid secrets that cannot be decrypted.
        return [];
      }
    };
    const keys = queryKeys.flatMap(open).map((key) => ({ ...key, isQueryKey: true }));
    return [...secrets.flatMap(open), ...keys];
  };
}

/** The part of a client record that the client itself can query. */
export interface OwnRecord {
  readonly limit: RateOverride;
  readonly paused: ClientPause | undefined;
  /** Current secret first. */
  readonly secrets: readonly OwnSecret[];
  /** Can include expired keys. */
  readonly queryKeys: readonly OwnQueryKey[];
}

export interface OwnQueryKey extends OwnSecret {
  readonly mayPush: boolean;
  readonly noBodies: boolean;
}

export interface OwnSecret {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** @returns undefined if the client does not exist */
export type FindOwnRecord = (clientId: string) => Promise<OwnRecord | undefined>;

export function createFindOwnRecord(connection: Connection): FindOwnRecord {
  return async (clientId) => {
    const record = await clientModel(connection).findById(clientId).lean();
    if (!record) return undefined;
    const { limit = {}, paused, secrets, queryKeys = [] } = record;
    const lastUseOf = await readSecretUses(connection, clientId);
    const view = ({ id, createdAt, expiresAt }: ClientSecret | QueryKey): OwnSecret => ({
      id,
      createdAt,
      expiresAt: expiresAt ?? null,
      lastUsedAt: lastUseOf(clientId, id),
    });
    return {
      limit: checkRateOverride(limit),
      paused,
      secrets: secrets.map(view),
      queryKeys: queryKeys.map((key) => ({
        ...view(key),
        mayPush: key.mayPush === true,
        noBodies: key.noBodies === true,
      })),
    };
  };
}
