/** Makes and revokes a client's query keys: for people in a browser (decisions, "Query keys"). */
import type { Connection } from 'mongoose';
import { type ClientRecord, clientModel } from './client-model';
import { mintSecret } from './clients';
import { DirectoryError, unknownClient } from './directory-error';
import type { KeyRing } from './sealing';

/** Keys of one client that work at a time: a rejected signature is tried with each of them. */
export const MAX_QUERY_KEYS = 10;
/** Milliseconds that an ended key is kept: as long as the rejections that may be asked about. */
const KEPT_ENDED = 86_400_000;
/** Milliseconds. */
export const QUERY_KEY_TTL = { shortest: 60_000, longest: 30 * 86_400_000 } as const;

export interface NewQueryKey {
  /** The key itself, for the only time. */
  readonly key: string;
  readonly keyId: string;
  readonly endsAt: Date;
}

export interface QueryKeyRequest {
  /** Milliseconds that it works. */
  readonly ttl: number;
  /** Whether it may push, too. */
  readonly mayPush: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * @throws DirectoryError where there is no such client, it is PUBLIC, has ten keys that work already, or
 *   `ttl` is out of bounds
 */
export async function addQueryKey(
  connection: Connection,
  keyRing: KeyRing,
  clientId: string,
  { ttl, mayPush, now }: QueryKeyRequest,
): Promise<NewQueryKey> {
  const { shortest, longest } = QUERY_KEY_TTL;
  if (!(ttl >= shortest && ttl <= longest)) {
    throw new DirectoryError('a query key works for a minute at least, and 30 days at most');
  }
  const model = clientModel(connection);
  const { secret: key, stored } = mintSecret(clientId, keyRing, now);
  const endsAt = new Date(now + ttl);
  const ended = { expiresAt: { $lt: new Date(now - KEPT_ENDED) } };
  await model.updateOne({ _id: clientId }, { $pull: { queryKeys: ended } });
  const { matchedCount } = await model.updateOne(
    { _id: clientId, type: 'CONFIDENTIAL', ...hasRoom(new Date(now)) },
    { $push: { queryKeys: { ...stored, expiresAt: endsAt, mayPush } } },
  );
  if (matchedCount === 0) throw await whyNone(connection, clientId);
  return { key, keyId: stored.id, endsAt };
}

/** Asked with the write: of two commands at once, one may find no room any more. */
function hasRoom(now: Date) {
  const alive = {
    $filter: { input: { $ifNull: ['$queryKeys', []] }, cond: { $gt: ['$$this.expiresAt', now] } },
  };
  return { $expr: { $lt: [{ $size: alive }, MAX_QUERY_KEYS] } };
}

async function whyNone(connection: Connection, clientId: string): Promise<DirectoryError> {
  const record = await clientModel(connection).findById(clientId).lean<ClientRecord>();
  if (!record) return unknownClient(clientId);
  if (record.type === 'PUBLIC') return new DirectoryError(`client ${clientId} is PUBLIC: no key`);
  return new DirectoryError(
    `client ${clientId} has ${MAX_QUERY_KEYS} keys that work: "client revoke" ends some`,
  );
}

/**
 * Ends keys at once. Those that have ended before stay as they are.
 *
 * @param keyId of one of them; absent: all
 * @returns ids of those that worked until now
 * @throws DirectoryError where there is no such client, or `keyId` names no key of it
 */
export async function revokeQueryKeys(
  connection: Connection,
  clientId: string,
  { keyId, now }: { readonly keyId?: string | undefined; readonly now: number },
): Promise<string[]> {
  const model = clientModel(connection);
  const record = await model.findById(clientId).lean<ClientRecord>();
  if (!record) throw unknownClient(clientId);
  const named = (record.queryKeys ?? []).filter(({ id }) => keyId === undefined || id === keyId);
  if (keyId !== undefined && named.length === 0) {
    throw new DirectoryError(`client ${clientId} has no query key ${keyId}`);
  }
  const ids = named.filter(({ expiresAt }) => expiresAt.getTime() > now).map(({ id }) => id);
  await model.updateOne(
    { _id: clientId },
    { $set: { 'queryKeys.$[one].expiresAt': new Date(now), 'queryKeys.$[one].revoked': true } },
    { arrayFilters: [{ 'one.id': { $in: ids } }] },
  );
  return ids;
}
