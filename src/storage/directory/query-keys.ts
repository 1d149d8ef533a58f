/** Adds and revokes the query keys of a client (contract 3.5). */
import type { Connection } from 'mongoose';
import { type ClientRecord, clientModel, DirectoryError, unknownClient } from './client-model';
import { type KeyRing, mintSecret } from './sealing';

/** Maximum valid query keys of a client. */
export const MAX_QUERY_KEYS = 10;
/** Expired query keys stay stored for at least this many milliseconds. */
const EXPIRED_RETENTION = 86_400_000;
/** Limits in milliseconds for the validity of a query key. */
export const QUERY_KEY_TTL = { shortest: 60_000, longest: 30 * 86_400_000 } as const;

export interface NewQueryKey {
  /** The plain key, which is not stored. */
  readonly key: string;
  readonly keyId: string;
  readonly endsAt: Date;
}

export interface QueryKeyOptions {
  /** Milliseconds for which the key is valid. */
  readonly ttl: number;
  readonly mayPush: boolean;
  readonly noBodies?: boolean;
}

/** See `ClientAdmin.addQueryKey`. */
export async function addQueryKey(
  connection: Connection,
  keyRing: KeyRing,
  clientId: string,
  { ttl, mayPush, noBodies = false, now }: QueryKeyOptions & { readonly now: number },
): Promise<NewQueryKey> {
  const { shortest, longest } = QUERY_KEY_TTL;
  if (!(ttl >= shortest && ttl <= longest)) {
    throw new DirectoryError(
      'a query key must be valid for at least one minute and at most 30 days',
    );
  }
  const model = clientModel(connection);
  const { secret: key, stored } = mintSecret(clientId, keyRing, now);
  const endsAt = new Date(now + ttl);
  const queryKey = { ...stored, expiresAt: endsAt, mayPush, ...(noBodies && { noBodies }) };
  const ended = { expiresAt: { $lt: new Date(now - EXPIRED_RETENTION) } };
  await model.updateOne({ _id: clientId }, { $pull: { queryKeys: ended } });
  const { matchedCount } = await model.updateOne(
    { _id: clientId, type: 'CONFIDENTIAL', ...mayHaveMore(new Date(now)) },
    { $push: { queryKeys: queryKey } },
  );
  if (matchedCount === 0) throw await whyNoKey(connection, clientId);
  return { key, keyId: stored.id, endsAt };
}

/** The update in `addQueryKey` checks the number of keys, so that concurrent calls cannot exceed MAX_QUERY_KEYS. */
function mayHaveMore(now: Date) {
  const alive = {
    $filter: { input: { $ifNull: ['$queryKeys', []] }, cond: { $gt: ['$$this.expiresAt', now] } },
  };
  return { $expr: { $lt: [{ $size: alive }, MAX_QUERY_KEYS] } };
}

async function whyNoKey(connection: Connection, clientId: string): Promise<DirectoryError> {
  const record = await clientModel(connection).findById(clientId).lean<ClientRecord>();
  if (!record) return unknownClient(clientId);
  if (record.type === 'PUBLIC')
    return new DirectoryError(`client ${clientId} is PUBLIC and cannot have a query key`);
  return new DirectoryError(
    `client ${clientId} has ${MAX_QUERY_KEYS} valid query keys, the maximum; revoke a key with "client revoke"`,
  );
}

/** See `ClientAdmin.revokeQueryKeys`. */
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
