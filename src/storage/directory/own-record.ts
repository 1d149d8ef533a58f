/** What a client may know of its own record: everything but the secrets themselves. */
import type { Connection } from 'mongoose';
import { type ClientPause, type ClientSecret, clientModel, type QueryKey } from './client-model';
import { checkRateOverride, type RateOverride } from './rate-override';
import { readUsesOf } from './secret-uses';

export interface OwnRecord {
  readonly limit: RateOverride;
  readonly paused: ClientPause | undefined;
  /** The current one first. */
  readonly secrets: readonly OwnSecret[];
  /** Those that ended within a day among them. */
  readonly queryKeys: readonly (OwnSecret & { readonly mayPush: boolean })[];
}

export interface OwnSecret {
  readonly id: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** @returns undefined where the client is gone meanwhile */
export type FindOwnRecord = (clientId: string) => Promise<OwnRecord | undefined>;

export function createFindOwnRecord(connection: Connection): FindOwnRecord {
  const model = clientModel(connection);
  return async (clientId) => {
    const record = await model.findById(clientId).lean();
    if (!record) return undefined;
    const { limit = {}, paused, secrets, queryKeys = [] } = record;
    const ids = [...secrets, ...queryKeys].map(({ id }) => id);
    const uses = await readUsesOf(connection, clientId, ids);
    const view = ({ id, createdAt, expiresAt }: ClientSecret | QueryKey): OwnSecret => ({
      id,
      createdAt,
      expiresAt: expiresAt ?? null,
      lastUsedAt: uses.get(id) ?? null,
    });
    return {
      limit: checkRateOverride(limit),
      paused,
      secrets: secrets.map(view),
      queryKeys: queryKeys.map((key) => ({ ...view(key), mayPush: key.mayPush === true })),
    };
  };
}
