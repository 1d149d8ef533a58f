/** What the `release` step brings about in the database: collections, indexes, derived phases. */
import type { Connection } from 'mongoose';
import { clientModel } from './directory/client-model';
import { userModel } from './directory/user-model';
import { matterModel } from './ledger/matter-model';
import { nativeCollection } from './mongo';
import { entryModel } from './push-log/entry-model';

const RETENTION = 'retention';

export interface SchemaSettings {
  /** PUSH_LOG_RETENTION, milliseconds. */
  readonly retention: number;
  /** CONCLUDED_STATUSES */
  readonly concluded: readonly string[];
}

/** Brings the database up to date; safe to run again, and beside running processes. */
export async function prepareDatabase(connection: Connection, settings: SchemaSettings) {
  const models = [matterModel, entryModel, clientModel, userModel].map((make) => make(connection));
  for (const model of models) {
    await model.createCollection();
    await model.createIndexes();
  }
  await keepLogFor(connection, Math.round(settings.retention / 1000));
  await derivePhases(connection, settings.concluded);
}

/** The TTL index of the push log; a changed retention replaces it. */
async function keepLogFor(connection: Connection, seconds: number): Promise<void> {
  const { collection } = entryModel(connection);
  const indexes = await collection.indexes();
  const existing = indexes.find(({ name }) => name === RETENTION);
  if (existing?.expireAfterSeconds === seconds) return;
  if (existing) await collection.dropIndex(RETENTION);
  await collection.createIndex({ receivedAt: 1 }, { name: RETENTION, expireAfterSeconds: seconds });
}

/** A changed CONCLUDED_STATUSES moves stored matters between open and concluded. */
async function derivePhases(connection: Connection, concluded: readonly string[]): Promise<void> {
  const matters = nativeCollection(matterModel(connection));
  const toConcluded = { phase: 'OPEN', bizStatus: { $in: concluded } } as const;
  const toOpen = { phase: 'CONCLUDED', bizStatus: { $nin: concluded } } as const;
  await matters.updateMany(toConcluded, { $set: { phase: 'CONCLUDED' }, $inc: { revision: 1 } });
  await matters.updateMany(toOpen, { $set: { phase: 'OPEN' }, $inc: { revision: 1 } });
}
