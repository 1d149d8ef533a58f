/**
 * Rotates the secret of a client (contract 3.3). This file also reseals stored secrets: it encrypts them again, with
 * the first key of SECRET_KEYS.
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

export interface Rotation {
  /** The plain secret, which is not stored. */
  readonly secret: string;
  readonly secretId: string;
  readonly oldEndsAt: Date;
  /** Null if no use of the old secret is recorded. */
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
  if (record.type === 'PUBLIC')
    throw new DirectoryError(`client ${clientId} is PUBLIC and cannot have a secret`);
  // This read precedes the update. If the read failed after the update, the caller would not get the new secret.
  const lastUseOf = await readSecretUses(connection, clientId);
  const { secret, stored } = mintSecret(clientId, keyRing, now);
  const oldEndsAt = new Date(now + overlap);
  const [current] = record.secrets;
  const retiring = current ? [{ ...current, expiresAt: oldEndsAt }] : [];
  // The update must fail if another command has changed the secret since `findById`.
  const asRead = current
    ? { 'secrets.0.id': current.id, 'secrets.0.sealed': current.sealed }
    : { 'secrets.0': { $exists: false } };
  const { matchedCount } = await model.updateOne(
    { _id: clientId, ...asRead },
    { $set: { secrets: [stored, ...retiring] } },
  );
  if (matchedCount === 0) {
    throw new DirectoryError(`client ${clientId} was changed by another command; try again`);
  }
  const oldLastUsedAt = current ? lastUseOf(clientId, current.id) : null;
  return { secret, secretId: stored.id, oldEndsAt, oldLastUsedAt };
}

export interface Resealed {
  /** Id of the first key of SECRET_KEYS. */
  readonly keyId: string;
  readonly resealed: number;
  /** Number of valid secrets that an old key still encrypts, by id of the old key. */
  readonly left: Readonly<Record<string, number>>;
}

export interface ResealProgress {
  readonly resealed: number;
  /** Number of secrets that this run has resealed, plus the number that it must still reseal. */
  readonly total: number;
}

/** Maximum passes over all clients. Concurrent rotations make several passes necessary. */
const MAX_PASSES = 3;

/**
 * Reseals valid and expired client secrets and query keys. The diagnosis of rejected signatures needs the expired
 * secrets.
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

interface StoredKey {
  readonly clientId: string;
  /** Path in the client record, for example `secrets.0`. */
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

async function reseal(
  model: Model<ClientRecord>,
  keyRing: KeyRing,
  { clientId, position, id, sealed }: StoredKey,
): Promise<boolean> {
  const sealedAgain = sealAgain(keyRing, sealed, clientId);
  if (sealedAgain === undefined) return false;
  // The filter checks `id` and `sealed`, because a concurrent rotation can move or remove the secret.
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
    // The key ring lacks the encryption key, or the text is damaged.
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
