/**
 * All secrets that a client has in the directory, also one that has ended: to find out which one a
 * rejected request was signed with. Never to let one in: that is what `clients.ts` is for.
 */
import type { Connection } from 'mongoose';
import { clientModel } from './client-model';
import type { KeyRing } from './sealing';

export interface HeldSecret {
  readonly id: string;
  readonly secret: string;
  /** Epoch milliseconds; absent: no end. */
  readonly endsAt?: number;
}

/** The current one first; none of an unknown client, and none that cannot be opened. */
export type FindHeldSecrets = (clientId: string) => Promise<readonly HeldSecret[]>;

export function createFindHeldSecrets(connection: Connection, keyRing: KeyRing): FindHeldSecrets {
  const model = clientModel(connection);
  return async (clientId) => {
    const record = await model.findById(clientId).lean();
    return (record?.secrets ?? []).flatMap(({ id, sealed, expiresAt }) => {
      try {
        const secret = keyRing.open(sealed, clientId);
        return [{ id, secret, ...(expiresAt && { endsAt: expiresAt.getTime() }) }];
      } catch {
        // Its key left SECRET_KEYS: the web process has logged it, and could not use it either.
        return [];
      }
    });
  };
}
