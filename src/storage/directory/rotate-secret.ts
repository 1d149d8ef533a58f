/** A client's new secret, beside the one that it has. */
import type { Connection } from 'mongoose';
import { clientModel } from './client-model';
import { mintSecret } from './clients';
import { DirectoryError, unknownClient } from './directory-error';
import type { KeyRing } from './sealing';
import { readSecretUses } from './secret-uses';

export interface Rotation {
  /** The plain secret, for the only time. */
  readonly secret: string;
  readonly secretId: string;
  readonly oldEndsAt: Date;
  /** When the old secret was used last, a minute old at most; null: never, as far as is known. */
  readonly oldLastUsedAt: Date | null;
}

/**
 * The current secret keeps working for `overlap` milliseconds, any older one ends at once.
 *
 * @throws DirectoryError where there is no such client, it is PUBLIC, or somebody else changes its
 *   secrets at the same moment
 */
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
  // Before anything is changed: from then on the new secret must be told.
  const lastUseOf = await readSecretUses(connection);
  const { secret, stored } = mintSecret(clientId, keyRing, now);
  const oldEndsAt = new Date(now + overlap);
  const [current] = record.secrets;
  const retiring = current ? [{ ...current, expiresAt: oldEndsAt }] : [];
  // Names the secret that was read, with its seal: of two rotations at once, one finds it gone, and
  // what was sealed anew meanwhile is not put back under its old key.
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
