/** What the `release` step brings about in the database: collections, indexes, derived phases. */
import type { Connection } from 'mongoose';
import { auditModel } from './audit/audit-model';
import { clientModel } from './directory/client-model';
import { userModel } from './directory/user-model';
import { matterModel } from './ledger/matter-model';
import { nativeCollection } from './mongo';
import { bodyModel } from './push-log/body-model';
import { entryModel } from './push-log/entry-model';

const RETENTION = 'retention';
/** Of the push log's first form, which had `outcome` and `reason` in place of `result`. */
const FIRST_FORM = ['client_newest', 'key_reuse'];

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
  const makers = [matterModel, entryModel, bodyModel, clientModel, userModel, auditModel];
  const models = makers.map((make) => make(connection));
  for (const model of models) {
    await model.createCollection();
    await model.createIndexes();
  }
  await bringUpToDate(connection);
  const { retention, bodyRetention, concluded } = settings;
  await keepFor(entryModel(connection).collection, retention);
  await keepFor(bodyModel(connection).collection, Math.min(bodyRetention, retention));
  await derivePhases(connection, concluded);
}

/** Runs once: the old indexes are dropped when every entry has its new form. */
async function bringUpToDate(connection: Connection): Promise<void> {
  const { collection } = entryModel(connection);
  const names = new Set((await collection.indexes()).map(({ name }) => name));
  const old = FIRST_FORM.filter((name) => names.has(name));
  if (old.length === 0) return;
  const told = { $ifNull: ['$outcome', { $ifNull: ['$reason', 'CONFIRMATION_TIMEOUT'] }] };
  const unnamed = { state: { $ne: 'QUEUED' }, result: { $exists: false } };
  await collection.updateMany(unnamed, [{ $set: { result: told } }]);
  for (const name of old) await collection.dropIndex(name);
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
