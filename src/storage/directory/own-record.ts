/** What a client may know of its own record: everything but the secrets themselves. */
import type { Connection } from 'mongoose';
import { type ClientPause, clientModel } from './client-model';
import { checkRateOverride, type RateOverride } from './rate-override';
import { readUsesOf } from './secret-uses';

export interface OwnRecord {
  readonly limit: RateOverride;
  readonly paused: ClientPause | undefined;
  /** The current one first. */
  readonly secrets: readonly OwnSecret[];
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
    const { limit = {}, paused, secrets } = record;
    const ids = secrets.map(({ id }) => id);
    const uses = await readUsesOf(connection, clientId, ids);
    const views = secrets.map(({ id, createdAt, expiresAt }) => ({
      id,
      createdAt,
      expiresAt: expiresAt ?? null,
      lastUsedAt: uses.get(id) ?? null,
    }));
    return { limit: checkRateOverride(limit), paused, secrets: views };
  };
}
