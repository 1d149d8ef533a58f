/** What the `release` step brings about in the database: collections, indexes, derived phases. */
import type { Connection } from 'mongoose';
import { clientModel } from './directory/client-model';
import { userModel } from './directory/user-model';
import { matterModel } from './ledger/matter-model';
import { nativeCollection } from './mongo';
import { bodyModel } from './push-log/body-model';
import { entryModel } from './push-log/entry-model';

const RETENTION = 'retention';

export interface SchemaSettings {
  /** PUSH_LOG_RETENTION, milliseconds. */
  readonly retention: number;
  /** PUSH_BODY_RETENTION, milliseconds. */
  readonly bodyRetention: number;
  /** CONCLUDED_STATUSES */
  readonly concluded: readonly string[];
}

/** Brings the database up to date; safe to run again, and beside running processes. */
export async function prepareDatabase(connection: Connection, settings: SchemaSettings) {
  const models = [matterModel, entryModel, bodyModel, clientModel, userModel].map((make) =>
    make(connection),
  );
  for (const model of models) {
    await model.createCollection();
    await model.createIndexes();
  }
  const { retention, bodyRetention, concluded } = settings;
  await keepFor(entryModel(connection).collection, retention);
  await keepFor(bodyModel(connection).collection, Math.min(bodyRetention, retention));
  await derivePhases(connection, concluded);
}

type Collection = ReturnType<typeof entryModel>['collection'];

/** The TTL index of a part of the push log; a changed retention (milliseconds) replaces it. */
async function keepFor(
  collection: Pick<Collection, 'indexes' | 'dropIndex' | 'createIndex'>,
  retention: number,
): Promise<void> {
  const expireAfterSeconds = Math.round(retention / 1000);
  const existing = (await collection.indexes()).find(({ name }) => name === RETENTION);
  if (existing?.expireAfterSeconds === expireAfterSeconds) return;
  if (existing) await collection.dropIndex(RETENTION);
  await collection.createIndex({ receivedAt: 1 }, { name: RETENTION, expireAfterSeconds });
}

/** A changed CONCLUDED_STATUSES moves stored matters between open and concluded. */
async function derivePhases(connection: Connection, concluded: readonly string[]): Promise<void> {
  const matters = nativeCollection(matterModel(connection));
  const toConcluded = { phase: 'OPEN', bizStatus: { $in: concluded } } as const;
  const toOpen = { phase: 'CONCLUDED', bizStatus: { $nin: concluded } } as const;
  await matters.updateMany(toConcluded, { $set: { phase: 'CONCLUDED' }, $inc: { revision: 1 } });
  await matters.updateMany(toOpen, { $set: { phase: 'OPEN' }, $inc: { revision: 1 } });
}
