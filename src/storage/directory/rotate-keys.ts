/**
 * Changes of secrets and query keys (contract 3.5). Operators can add and revoke query keys, rotate a secret, and
 * reseal all secrets: encrypt them with another key.
 */
import type { Connection, Model } from 'mongoose';
import type { Clock } from '../../concurrency/timing';
import {
  type ClientRecord,
  type ClientSecret,
  clientModel,
  DirectoryError,
  type QueryKey,
  unknownClient,
} from './client-model';
import { type KeyRing, keyIdOf, mintSecret } from './sealing';
import { readSecretUses } from './secret-uses';

/** Maximum valid query keys of a client, because `web` tries each of them before it rejects a signature. */
export const MAX_QUERY_KEYS = 10;
/** Milliseconds for which an expired query key is kept for the diagnosis of rejected signatures. */
const EXPIRED_RETENTION = 86_400_000;
/** Limits in milliseconds for the validity of a query key. */
export const QUERY_KEY_TTL = { shortest: 60_000, longest: 30 * 86_400_000 } as const;

export interface NewQueryKey {
  /** The plain key. Only its encrypted form is stored. */
  readonly key: string;
  readonly keyId: string;
  readonly endsAt: Date;
}

export interface QueryKeyOptions {
  /** Milliseconds for which the key is valid. */
  readonly ttl: number;
  /** Whether the key also has the scope `push`. */
  readonly mayPush: boolean;
  /** Whether answers to requests with this key omit titles, contents, payloads and stored bodies. */
  readonly noBodies?: boolean;
}

/** See `ClientAdmin.addQueryKey`. @param now epoch milliseconds */
export async function addQueryKey(
  connection: Connection,
  keyRing: KeyRing,
  clientId: string,
  { ttl, mayPush, noBodies = false, now }: QueryKeyOptions & { readonly now: number },
): Promise<NewQueryKey> {
  const { shortest, longest } = QUERY_KEY_TTL;
  if (!(ttl >= shortest && ttl <= longest)) {
    throw new DirectoryError('a query key works for a minute at least, and 30 days at most');
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

/**
 * Filter for a client with fewer than MAX_QUERY_KEYS valid keys. The filter is a part of the write, so that concurrent
 * commands cannot exceed this number.
 */
function mayHaveMore(now: Date) {
  const alive = {
    $filter: { input: { $ifNull: ['$queryKeys', []] }, cond: { $gt: ['$$this.expiresAt', now] } },
  };
  return { $expr: { $lt: [{ $size: alive }, MAX_QUERY_KEYS] } };
}

async function whyNoKey(connection: Connection, clientId: string): Promise<DirectoryError> {
  const record = await clientModel(connection).findById(clientId).lean<ClientRecord>();
  if (!record) return unknownClient(clientId);
  if (record.type === 'PUBLIC') return new DirectoryError(`client ${clientId} is PUBLIC: no key`);
  return new DirectoryError(
    `client ${clientId} has ${MAX_QUERY_KEYS} keys that work: "client revoke" ends some`,
  );
}

/** See `ClientAdmin.revokeQueryKeys`. Keys that have already expired do not change. */
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

export interface Rotation {
  /** The plain secret. Only its encrypted form is stored. */
  readonly secret: string;
  readonly secretId: string;
  readonly oldEndsAt: Date;
  /** Last use of the old secret, accurate to about a minute; null if no use is recorded. */
  readonly oldLastUsedAt: Date | null;
}

/** See `ClientAdmin.rotate`. */
export async function rotateSecret(
  connection: Connection,
  keyRing: KeyRing,
  clientId: string,
  { overlap, now }: { readonly overlap: number; readonly now: number },
): Promise<Rotation> {
  const model = clientModel(connection);
  const record = await model.findById(clientId).lean();
  if (!record) throw unknownClient(clientId);
  if (record.type === 'PUBLIC') throw new DirectoryError(`client ${clientId} is PUBLIC: no secret`);
  // The read precedes the change: if the read failed after the change, the caller would never see the new secret.
  const lastUseOf = await readSecretUses(connection, clientId);
  const { secret, stored } = mintSecret(clientId, keyRing, now);
  const oldEndsAt = new Date(now + overlap);
  const [current] = record.secrets;
  const retiring = current ? [{ ...current, expiresAt: oldEndsAt }] : [];
  // The filter contains the secret that was read. So one of two concurrent rotations fails. A rotation also never
  // restores the old form of a secret that was just encrypted again.
  const asRead = current
    ? { 'secrets.0.id': current.id, 'secrets.0.sealed': current.sealed }
    : { 'secrets.0': { $exists: false } };
  const { matchedCount } = await model.updateOne(
    { _id: clientId, ...asRead },
    { $set: { secrets: [stored, ...retiring] } },
  );
  if (matchedCount === 0) {
    throw new DirectoryError(`client ${clientId} was rotated or resealed meanwhile; retry`);
  }
  const oldLastUsedAt = current ? lastUseOf(clientId, current.id) : null;
  return { secret, secretId: stored.id, oldEndsAt, oldLastUsedAt };
}

// Resealing encrypts all secrets with the first key of SECRET_KEYS, so that the other keys can be removed.

export interface Resealed {
  /** Id of the first encryption key. */
  readonly keyId: string;
  /** Number of secrets that this call has encrypted with the first encryption key. */
  readonly resealed: number;
  /** Valid secrets under other encryption keys, counted by key id. If empty, these keys can be removed. */
  readonly left: Readonly<Record<string, number>>;
}

export interface ResealProgress {
  readonly resealed: number;
  /** Number of secrets that this call has to encrypt, as far as known. */
  readonly total: number;
}

/** Maximum passes over all clients. A later pass finds the secrets that a concurrent rotation has changed. */
const MAX_PASSES = 3;

/**
 * Reseals one secret after the other, without a change of the secret itself. The command can be interrupted, repeated,
 * and run during rotations. It also reseals expired secrets, because the diagnosis of rejected signatures uses them.
 *
 * `left` counts valid secrets that are still encrypted with another key. The key of such a secret is not in the key
 * ring, or a process with another first key has just written the secret.
 */
export async function resealSecrets(
  connection: Connection,
  { keyRing, clock }: { readonly keyRing: KeyRing; readonly clock: Clock },
  onProgress: (progress: ResealProgress) => void = () => undefined,
): Promise<Resealed> {
  const model = clientModel(connection);
  const { sealingKey: keyId } = keyRing;
  const findOthers = async () =>
    (await findAll(model, clock())).filter(({ sealed }) => keyIdOf(sealed) !== keyId);
  let resealed = 0;
  let others = await findOthers();
  for (let pass = 0; pass < MAX_PASSES && others.length > 0; pass += 1) {
    const total = resealed + others.length;
    for (const secret of others) {
      if (await reseal(model, keyRing, secret)) resealed += 1;
      onProgress({ resealed, total });
    }
    others = await findOthers();
  }
  return { keyId, resealed, left: countByKey(others.filter(({ hasEnded }) => !hasEnded)) };
}

/** A secret or query key, and its position in the client record. */
interface StoredKey {
  readonly clientId: string;
  /** Path of the secret in the record, for example `secrets.0`. */
  readonly position: string;
  readonly id: string;
  readonly sealed: string;
  readonly hasEnded: boolean;
}

async function findAll(model: Model<ClientRecord>, now: number): Promise<StoredKey[]> {
  const records = await model.find().sort({ _id: 1 }).lean();
  return records.flatMap(({ _id: clientId, secrets, queryKeys = [] }) => {
    const find = (list: string) => (stored: ClientSecret | QueryKey, index: number) => {
      const { id, sealed, expiresAt } = stored;
      const hasEnded = (expiresAt?.getTime() ?? Number.POSITIVE_INFINITY) <= now;
      return { clientId, position: `${list}.${index}`, id, sealed, hasEnded };
    };
    return [...secrets.map(find('secrets')), ...queryKeys.map(find('queryKeys'))];
  });
}

/** Encrypts one secret with the first encryption key. @returns whether the secret was encrypted and stored */
async function reseal(
  model: Model<ClientRecord>,
  keyRing: KeyRing,
  { clientId, position, id, sealed }: StoredKey,
): Promise<boolean> {
  const sealedAgain = sealAgain(keyRing, sealed, clientId);
  if (sealedAgain === undefined) return false;
  // The filter contains the secret that was read, because a concurrent rotation moves and removes secrets.
  const { matchedCount } = await model.updateOne(
    { _id: clientId, [`${position}.id`]: id, [`${position}.sealed`]: sealed },
    { $set: { [`${position}.sealed`]: sealedAgain } },
  );
  return matchedCount === 1;
}

function sealAgain(keyRing: KeyRing, sealed: string, clientId: string): string | undefined {
  try {
    return keyRing.seal(keyRing.open(sealed, clientId), clientId);
  } catch {
    // The key ring lacks the encryption key, or the text is damaged. No web process can use such a secret.
    return undefined;
  }
}

function countByKey(secrets: readonly StoredKey[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { sealed } of secrets) {
    const keyId = keyIdOf(sealed);
    counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}
