/** Lists and changes clients for operators. */

import type { Connection, Model, UpdateQuery } from 'mongoose';
import { systemClock } from '../../concurrency/timing';
import type { Action } from '../audit';
import {
  type ClientRecord,
  type ClientSecret,
  clientModel,
  DirectoryError,
  type QueryKey,
  unknownClient,
} from './client-model';
import { addQueryKey, type NewQueryKey, type QueryKeyOptions, revokeQueryKeys } from './query-keys';
import { checkRateOverride, type RateOverride } from './rate-override';
import { type Rotation, rotateSecret } from './rotate-keys';
import { createKeyRing, type KeyRing, mintSecret } from './sealing';
import { readSecretUses } from './secret-uses';

const CLIENT_ID = /^[\x21-\x7e]{1,64}$/;
const SYSTEM_CODE = /^[A-Za-z0-9_.-]{1,64}$/;
/** A single line of text. */
const PAUSE_REASON = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;

export interface NewClient {
  readonly clientId: string;
  readonly systemCode: string | null;
  readonly type?: ClientRecord['type'];
}

interface LastUse {
  /** Accurate to about a minute; null if no use is recorded. */
  readonly lastUsedAt: Date | null;
}

/** A client without the sealed secrets. */
export type ClientView = Omit<ClientRecord, '_id' | 'secrets' | 'queryKeys' | 'limit'> & {
  readonly clientId: string;
  /** Null: RATE_LIMIT and RATE_BURST apply. */
  readonly limit: RateOverride | null;
  readonly secrets: readonly (Omit<ClientSecret, 'sealed'> & LastUse)[];
  /** Includes expired keys. */
  readonly queryKeys: readonly (Omit<QueryKey, 'sealed'> & LastUse)[];
};

export interface ClientAdmin {
  /**
   * @returns the secret and its id; both null for a PUBLIC client
   * @throws DirectoryError if the id exists already, or a value is malformed
   */
  create(client: NewClient): Promise<{ secret: string | null; secretId: string | null }>;
  list(): Promise<ClientView[]>;
  /** @throws DirectoryError if the client does not exist */
  setEnabled(clientId: string, enabled: boolean): Promise<void>;
  /**
   * `web` rejects the client's pushes with 503 `CLIENT_PAUSED` until `resume`.
   *
   * @param reason shown in the answer to each rejected push
   * @throws DirectoryError if the client does not exist, or the reason is malformed
   */
  pause(clientId: string, reason?: string): Promise<void>;
  /** @throws DirectoryError if the client does not exist */
  resume(clientId: string): Promise<void>;
  /**
   * Sets only the values that `limit` contains. If `limit` is null, RATE_LIMIT and RATE_BURST apply again.
   *
   * @returns the resulting limit of the client
   * @throws DirectoryError if the client does not exist; RangeError if a value is out of bounds
   */
  setLimit(clientId: string, limit: RateOverride | null): Promise<RateOverride | null>;
  /**
   * The replaced secret stays valid for `overlap` milliseconds.
   *
   * @throws DirectoryError if the client does not exist or is PUBLIC, or if a concurrent command changed the secret
   */
  rotate(clientId: string, overlap: number): Promise<Rotation>;
  /** @throws DirectoryError if the client cannot get another key, or if `ttl` is outside QUERY_KEY_TTL */
  addQueryKey(clientId: string, key: QueryKeyOptions): Promise<NewQueryKey>;
  /**
   * Revokes one query key, or all query keys of the client if `keyId` is absent.
   *
   * @returns the ids of the keys that this call revoked
   * @throws DirectoryError if the client or the key does not exist
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
    setLimit: async (clientId, limit) => {
      const parts = Object.entries(limit ? checkRateOverride(limit) : {});
      const set = Object.fromEntries(parts.map(([part, value]) => [`limit.${part}`, value]));
      await change(clientId, limit ? { $set: set } : { $unset: { limit: 1 } });
      return (await model.findById(clientId).lean())?.limit ?? null;
    },
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
    throw new DirectoryError(
      'the system code must have 1 to 64 characters: letters, digits, dots, hyphens and underscores',
    );
  }
  const minted = type === 'CONFIDENTIAL' ? mintSecret(clientId, keyRing, now) : undefined;
  const secrets = minted ? [minted.stored] : [];
  const createdAt = new Date(now);
  const record = { _id: clientId, type, systemCode, enabled: true, secrets, createdAt };
  await model.create(record).catch((error) => {
    if (error.code !== 11000) throw error;
    throw new DirectoryError(
      `client ${clientId} exists already; to replace its secret, use "client rotate"`,
    );
  });
  return { secret: minted?.secret ?? null, secretId: minted?.stored.id ?? null };
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

export interface PauseChange {
  readonly clientId: string;
  readonly paused: boolean;
  readonly reason?: string | undefined;
}

export const pauseAction = ({
  clientId,
  paused,
  reason,
}: PauseChange): Omit<Action, 'operator' | 'host'> => ({
  command: `queue ${paused ? 'pause' : 'resume'}`,
  subject: clientId,
  clientId,
  details: reason === undefined ? {} : { reason },
});

/** @throws DirectoryError if the client does not exist, or the reason is malformed */
export async function setPaused(
  connection: Connection,
  { clientId, paused, reason }: PauseChange,
): Promise<void> {
  const admin = createClientAdmin(connection, createKeyRing([]), systemClock);
  await (paused ? admin.pause(clientId, reason) : admin.resume(clientId));
}
