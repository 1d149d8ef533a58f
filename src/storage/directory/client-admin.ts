/** What operators do with clients. Used by matterctl and by the demo of `npm start`. */
import type { Connection, Model, UpdateQuery } from 'mongoose';
import { type ClientRecord, type ClientSecret, clientModel, type QueryKey } from './client-model';
import { mintSecret } from './clients';
import { DirectoryError, unknownClient } from './directory-error';
import { addQueryKey, type NewQueryKey, revokeQueryKeys } from './query-keys';
import { checkRateOverride, type RateOverride } from './rate-override';
import { type Rotation, rotateSecret } from './rotate-secret';
import type { KeyRing } from './sealing';
import { readSecretUses } from './secret-uses';

const CLIENT_ID = /^[\x21-\x7e]{1,64}$/;
const SYSTEM_CODE = /^[A-Za-z0-9_.-]{1,64}$/;
/** Why a client is paused: it stands in answers and in tables. */
const PAUSE_REASON = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;

export interface NewClient {
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly type?: ClientRecord['type'];
}

/** A minute old at most; null: never, as far as is known. */
interface LastUse {
  readonly lastUsedAt: Date | null;
}

/** A client as operators see it: never a secret. */
export type ClientView = Omit<ClientRecord, '_id' | 'secrets' | 'queryKeys' | 'limit'> & {
  readonly clientId: string;
  /** Null: that of the settings. */
  readonly limit: RateOverride | null;
  readonly secrets: readonly (Omit<ClientSecret, 'sealed'> & LastUse)[];
  /** Those that ended within a day among them. */
  readonly queryKeys: readonly (Omit<QueryKey, 'sealed'> & LastUse)[];
};

export interface ClientAdmin {
  /**
   * @returns the plain secret, for the only time; nulls for a PUBLIC client, which gets none
   * @throws DirectoryError where the id is taken or malformed
   */
  create(client: NewClient): Promise<{ secret: string | null; secretId: string | null }>;
  list(): Promise<ClientView[]>;
  /** @throws DirectoryError where there is no such client */
  setEnabled(clientId: string, enabled: boolean): Promise<void>;
  /**
   * From now on its pushes are answered 503 `CLIENT_PAUSED`, until `resume`.
   *
   * @param reason told to the client, at most 200 characters
   * @throws DirectoryError where there is no such client, or the reason is too long
   */
  pause(clientId: string, reason?: string): Promise<void>;
  /** @throws DirectoryError where there is no such client */
  resume(clientId: string): Promise<void>;
  /**
   * Gives a client a rate of its own, or, with null, that of the settings again. What is absent in
   * `limit` stays as it is.
   *
   * @returns what the client has now; null: nothing of its own
   * @throws DirectoryError where there is no such client
   */
  setLimit(clientId: string, limit: RateOverride | null): Promise<RateOverride | null>;
  /**
   * Gives a client a new secret; the current one keeps working for `overlap` milliseconds, any
   * older one ends at once.
   *
   * @throws DirectoryError where there is no such client, it is PUBLIC, or somebody else changes its
   *   secrets at the same moment
   */
  rotate(clientId: string, overlap: number): Promise<Rotation>;
  /**
   * Makes a key for people in a browser, which works for `ttl` milliseconds.
   *
   * @throws DirectoryError where there is no such client, it is PUBLIC, has ten keys that work already, or
   *   `ttl` is out of bounds
   */
  addQueryKey(
    clientId: string,
    key: { readonly ttl: number; readonly mayPush: boolean },
  ): Promise<NewQueryKey>;
  /**
   * Ends one query key, or all of them where none is named.
   *
   * @returns ids of those that worked until now
   * @throws DirectoryError where there is no such client or key
   */
  revokeQueryKeys(clientId: string, keyId?: string): Promise<string[]>;
}

export function createClientAdmin(
  connection: Connection,
  keyRing: KeyRing,
  clock: () => number,
): ClientAdmin {
  const model = clientModel(connection);
  const change = async (clientId: string, to: UpdateQuery<ClientRecord>) => {
    const { matchedCount } = await model.updateOne({ _id: clientId }, to);
    if (matchedCount === 0) throw unknownClient(clientId);
  };
  return {
    create: (client) => create(model, keyRing, client, clock()),
    list: async () => {
      const lastUseOf = await readSecretUses(connection);
      const records = await model.find().sort({ _id: 1 }).lean<ClientRecord[]>();
      return records.map((record) => toView(record, lastUseOf));
    },
    setEnabled: (clientId, enabled) => change(clientId, { $set: { enabled } }),
    pause: async (clientId, reason) => {
      if (reason !== undefined && !PAUSE_REASON.test(reason)) {
        throw new DirectoryError('the reason must be one line of 1 to 200 characters');
      }
      const paused = { since: new Date(clock()), ...(reason !== undefined && { reason }) };
      await change(clientId, { $set: { paused } });
    },
    resume: (clientId) => change(clientId, { $unset: { paused: 1 } }),
    setLimit: (clientId, limit) => setLimit(model, clientId, limit),
    rotate: (clientId, overlap) =>
      rotateSecret(connection, keyRing, clientId, { overlap, now: clock() }),
    addQueryKey: (clientId, key) =>
      addQueryKey(connection, keyRing, clientId, { ...key, now: clock() }),
    revokeQueryKeys: (clientId, keyId) =>
      revokeQueryKeys(connection, clientId, { keyId, now: clock() }),
  };
}

async function create(
  model: Model<ClientRecord>,
  keyRing: KeyRing,
  { clientId, systemCode, type = 'CONFIDENTIAL' }: NewClient,
  now: number,
): ReturnType<ClientAdmin['create']> {
  if (!CLIENT_ID.test(clientId)) {
    throw new DirectoryError('the client id must be 1 to 64 printable ASCII characters, no spaces');
  }
  if (systemCode !== null && !SYSTEM_CODE.test(systemCode)) {
    throw new DirectoryError('the system code must be 1 to 64 of A-Z a-z 0-9 _ . -');
  }
  const minted = type === 'CONFIDENTIAL' ? mintSecret(clientId, keyRing, now) : undefined;
  const secrets = minted ? [minted.stored] : [];
  const createdAt = new Date(now);
  const record = { _id: clientId, type, systemCode, enabled: true, secrets, createdAt };
  await model.create(record).catch((error) => {
    if (error.code !== 11000) throw error;
    throw new DirectoryError(
      `client ${clientId} exists already; "client rotate" gives it a new secret`,
    );
  });
  return { secret: minted?.secret ?? null, secretId: minted?.stored.id ?? null };
}

async function setLimit(
  model: Model<ClientRecord>,
  clientId: string,
  limit: RateOverride | null,
): Promise<RateOverride | null> {
  const parts = Object.entries(limit ? checkRateOverride(limit) : {});
  const change = limit
    ? { $set: Object.fromEntries(parts.map(([part, value]) => [`limit.${part}`, value])) }
    : { $unset: { limit: 1 } };
  const { matchedCount } = await model.updateOne({ _id: clientId }, change);
  if (matchedCount === 0) throw unknownClient(clientId);
  return (await model.findById(clientId).lean())?.limit ?? null;
}

type LastUseOf = Awaited<ReturnType<typeof readSecretUses>>;

function toView(record: ClientRecord, lastUseOf: LastUseOf): ClientView {
  const { _id: clientId, secrets, queryKeys = [], limit, ...rest } = record;
  const seen = <T extends { id: string; sealed: string }>({ sealed: _sealed, ...kept }: T) => ({
    ...kept,
    lastUsedAt: lastUseOf(clientId, kept.id),
  });
  return {
    clientId,
    ...rest,
    limit: limit ?? null,
    secrets: secrets.map(seen),
    queryKeys: queryKeys.map(seen),
  };
}
