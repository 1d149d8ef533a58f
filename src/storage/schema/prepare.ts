/** Prepares the database in the release step. */
import type { Connection, mongo } from 'mongoose';
import { nativeCollection, stateCollection } from '../../infra/mongo';
import { matterModel } from '../ledger/matters';
import { bodyModel, entryModel } from '../push-log/entry';
import { countModel } from '../push-log/read-counts';
import { type CollectionModel, modelsOf, RETENTION } from './indexes';

export interface SchemaSettings {
  /** PUSH_LOG_RETENTION, milliseconds. */
  readonly retention: number;
  /** PUSH_BODY_RETENTION, milliseconds. */
  readonly bodyRetention: number;
  /** CONCLUDED_STATUSES */
  readonly concluded: readonly string[];
}

/** A repeated call is safe, even while web and worker processes run. */
export async function prepareDatabase(
  connection: Connection,
  { retention, bodyRetention, concluded }: SchemaSettings,
): Promise<void> {
  await Promise.all(modelsOf(connection).map(createCollection));
  await setRetention(entryModel(connection).collection, retention);
  await setRetention(bodyModel(connection).collection, Math.min(bodyRetention, retention));
  await setRetention(countModel(connection).collection, retention, 'hour');
  await derivePhases(connection, concluded);
}

async function createCollection(model: CollectionModel): Promise<void> {
  await model.createCollection();
  const indexes = model.schema
    .indexes()
    .map(([key, options]) => ({ ...options, key }) as mongo.IndexDescription);
  if (indexes.length > 0) await model.collection.createIndexes(indexes);
}

type LogCollection = ReturnType<typeof entryModel>['collection'];

/** Creates or updates the TTL index that deletes documents after `retention` milliseconds. */
async function setRetention(
  collection: Pick<LogCollection, 'name' | 'indexes' | 'createIndex' | 'conn'>,
  retention: number,
  field = 'receivedAt',
): Promise<void> {
  const expireAfterSeconds = Math.round(retention / 1000);
  const existing = (await collection.indexes()).find(({ name }) => name === RETENTION);
  if (existing?.expireAfterSeconds === expireAfterSeconds) return;
  if (existing) {
    const index = { name: RETENTION, expireAfterSeconds };
    const { conn, name } = collection;
    await conn.getClient().db(conn.name).command({ collMod: name, index });
  } else await collection.createIndex({ [field]: 1 }, { name: RETENTION, expireAfterSeconds });
}

interface Derived {
  readonly _id: string;
  readonly statuses: readonly string[];
  readonly runs: number;
}

const DERIVED = 'concluded statuses';
/**
 * After a change of CONCLUDED_STATUSES, this many runs of the release step derive the phases of all matters. The
 * second run corrects the matters that processes with the old setting wrote after the first run.
 */
const RUNS = 2;

async function derivePhases(connection: Connection, concluded: readonly string[]): Promise<void> {
  const state = stateCollection<Derived>(connection);
  const statuses = [...new Set(concluded)].sort();
  const done = await state.findOne({ _id: DERIVED });
  const runs = done && String(done.statuses) === String(statuses) ? done.runs : 0;
  if (runs >= RUNS) return;
  const matters = nativeCollection(matterModel(connection));
  const toConcluded = { phase: 'OPEN', bizStatus: { $in: statuses } } as const;
  const toOpen = { phase: 'CONCLUDED', bizStatus: { $nin: statuses } } as const;
  await matters.updateMany(toConcluded, { $set: { phase: 'CONCLUDED' }, $inc: { revision: 1 } });
  await matters.updateMany(toOpen, { $set: { phase: 'OPEN' }, $inc: { revision: 1 } });
  const update = { $set: { statuses, runs: runs + 1 } };
  await state.updateOne({ _id: DERIVED }, update, { upsert: true });
}
