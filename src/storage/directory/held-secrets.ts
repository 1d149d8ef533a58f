/**
 * All secrets that a client has in the directory, also one that has ended: to find out which one a
 * rejected request was signed with. Never to let one in: that is what `clients.ts` is for.
 */
import type { Connection } from 'mongoose';
import { type ClientSecret, clientModel, type QueryKey } from './client-model';
import type { KeyRing } from './sealing';

export interface HeldSecret {
  readonly id: string;
  readonly secret: string;
  /** Epoch milliseconds; absent: no end. */
  readonly endsAt?: number;
  /** It was made for the console, which signs right: only whether it has ended is of interest. */
  readonly isQueryKey?: boolean;
}

/** The current one first, query keys last; none of an unknown client, and none that cannot be opened. */
export type FindHeldSecrets = (clientId: string) => Promise<readonly HeldSecret[]>;

export function createFindHeldSecrets(connection: Connection, keyRing: KeyRing): FindHeldSecrets {
  const model = clientModel(connection);
  return async (clientId) => {
    const record = await model.findById(clientId).lean();
    const { secrets = [], queryKeys = [] } = record ?? {};
    const open = ({ id, sealed, expiresAt }: ClientSecret | QueryKey): HeldSecret[] => {
      try {
        const secret = keyRing.open(sealed, clientId);
        return [{ id, secret, ...(expiresAt && { endsAt: expiresAt.getTime() }) }];
      } catch {
        // Its key left SECRET_KEYS: the web process has logged it, and could not use it either.
        return [];
      }
    };
    const keys = queryKeys.flatMap(open).map((key) => ({ ...key, isQueryKey: true }));
    return [...secrets.flatMap(open), ...keys];
  };
}
