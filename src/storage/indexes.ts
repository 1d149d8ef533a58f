/** What the `release` step brings about in the database: collections, indexes, derived phases. */
import type { Connection, mongo } from 'mongoose';
import { auditModel } from './audit/audit-model';
import { clientModel } from './directory/client-model';
import { fillFoldedUsernames } from './directory/similar-users';
import { FOLDED_INDEX, userModel } from './directory/user-model';
import { matterModel } from './ledger/matter-model';
import { nativeCollection, stateCollection } from './mongo';
import { bodyModel } from './push-log/body-model';
import { countModel } from './push-log/count-model';
import { entryModel } from './push-log/entry-model';
import { beginWithOldStates, OLD_STATES } from './push-log/expire-lost';
import { FAILED_STATES } from './push-log/log-filter';

const RETENTION = 'retention';
/** Of the push log's first form, which had `outcome` and `reason` in place of `result`. */
const FIRST_FORM = ['client_newest', 'key_reuse'];
/** Indexes of the push log under the names that its fields had before `RENAMED_FIELDS`. */
const RENAMED_INDEXES = ['precedents', 'replays'];
const RENAMED_FIELDS = {
  precedentKey: 'idempotencyFingerprint',
  origin: 'duplicateOf',
  replayOf: 'resentFrom',
} as const;
/**
 * Indexes of the push log that a settlement touched, or that held entries without the field that they are
 * about: `failures` and `idempotency_keys` are in their place.
 */
const REPLACED_INDEXES = ['results', 'key_uses'];
/** Of matters: it covered the guard of a commit, which finds its matter by the id as well. */
const OLD_GUARD = 'guard';

export interface SchemaSettings {
  /** PUSH_LOG_RETENTION, milliseconds. */
  readonly retention: number;
  /** PUSH_BODY_RETENTION, milliseconds. */
  readonly bodyRetention: number;
  /** CONCLUDED_STATUSES */
  readonly concluded: readonly string[];
}

/**
 * Brings the database up to date; safe to run again, and beside running processes.
 *
 * @returns the indexes of earlier versions that it dropped, as `collection.index`
 */
export async function prepareDatabase(
  connection: Connection,
  settings: SchemaSettings,
): Promise<string[]> {
  await Promise.all(modelsOf(connection).map(createCollection));
  const { dropped, isReplacing } = await bringUpToDate(connection, Date.now());
  const { retention, bodyRetention, concluded } = settings;
  await keepFor(entryModel(connection).collection, retention);
  await keepFor(bodyModel(connection).collection, Math.min(bodyRetention, retention));
  await keepFor(countModel(connection).collection, retention, 'hour');
  await derivePhases(connection, concluded);
  await fillFoldedUsernames(connection);
  if (isReplacing) await noteReplacing(connection);
  return dropped;
}

/**
 * By collection, the names of the indexes that every process of this version relies on, and watches (schema.ts): a later
 * version must keep them in its first run, as it keeps REPLACED_INDEXES. Without FOLDED_INDEX a push lacks a suggestion
 * only.
 */
export function expectedIndexes(
  connection: Connection,
): { readonly collection: string; readonly names: readonly string[] }[] {
  const kept: readonly string[] = [entryModel, bodyModel, countModel].map(
    (make) => make(connection).collection.name,
  );
  return modelsOf(connection).map(({ schema, collection: { name } }) => {
    const own = schema
      .indexes()
      .map(([, options]) => String((options as { name?: string }).name))
      .filter((index) => index !== FOLDED_INDEX);
    return { collection: name, names: kept.includes(name) ? [...own, RETENTION] : own };
  });
}

const modelsOf = (connection: Connection): readonly CollectionModel[] =>
  [
    ...[matterModel, entryModel, bodyModel, countModel],
    ...[clientModel, userModel, auditModel],
  ].map((make) => make(connection));

interface CollectionModel {
  readonly schema: { indexes(): (readonly [unknown, object])[] };
  readonly collection: {
    readonly name: string;
    createIndexes(specifications: mongo.IndexDescription[]): Promise<unknown>;
  };
  createCollection(): Promise<unknown>;
}

/** Creates the collection, then all of its indexes in one command. */
async function createCollection(model: CollectionModel): Promise<void> {
  await model.createCollection();
  const indexes = model.schema
    .indexes()
    .map(([key, options]) => ({ ...options, key }) as mongo.IndexDescription);
  if (indexes.length > 0) await model.collection.createIndexes(indexes);
}

interface BroughtUpToDate {
  readonly dropped: string[];
  /** Whether there were indexes that are replaced. */
  readonly isReplacing: boolean;
}

/** Runs once: the old indexes are dropped when every entry has its new form. */
async function bringUpToDate(connection: Connection, now: number): Promise<BroughtUpToDate> {
  const log = entryModel(connection).collection;
  const names = await namesOf(log);
  if (FIRST_FORM.some((name) => names.has(name))) {
    const told = { $ifNull: ['$outcome', { $ifNull: ['$reason', 'CONFIRMATION_TIMEOUT'] }] };
    const unnamed = { state: { $ne: 'QUEUED' }, result: { $exists: false } };
    await log.updateMany(unnamed, [{ $set: { result: told } }]);
  }
  if (RENAMED_INDEXES.some((name) => names.has(name))) {
    const hasOldName = Object.keys(RENAMED_FIELDS).map((name) => ({ [name]: { $exists: true } }));
    await log.updateMany({ $or: hasOldName }, { $rename: RENAMED_FIELDS });
  }
  if (names.has(OLD_STATES)) await beginWithOldStates(connection, now);
  const isReplacing = REPLACED_INDEXES.some((name) => names.has(name));
  if (isReplacing || FIRST_FORM.some((name) => names.has(name))) await markFailures(connection);
  const mayReplace = isReplacing && (await isSecondRun(connection));
  const dropped = [
    ...(await dropIndexes(log, [...FIRST_FORM, ...RENAMED_INDEXES, OLD_STATES])),
    ...(mayReplace ? await dropIndexes(log, REPLACED_INDEXES) : []),
    ...(await dropIndexes(matterModel(connection).collection, [OLD_GUARD])),
  ];
  return { dropped, isReplacing };
}

/** Gives the failures of earlier versions the field by which they are found now. */
async function markFailures(connection: Connection): Promise<void> {
  const log = nativeCollection(entryModel(connection));
  const unmarked = { state: { $in: FAILED_STATES }, failure: { $exists: false } };
  await log.updateMany(unmarked, [{ $set: { failure: '$result' } }]);
}

const REPLACING = 'indexes replaced';

/**
 * The first run leaves replaced indexes to the processes that read along them; the second one drops
 * them, and finds the failures that those processes wrote meanwhile.
 */
const isSecondRun = async (connection: Connection): Promise<boolean> =>
  (await stateCollection(connection).findOne({ _id: REPLACING })) !== null;

/** Last of all: a run that failed half-way is no first one, since nobody has replaced a process after it. */
async function noteReplacing(connection: Connection): Promise<void> {
  const at = { $setOnInsert: { at: new Date() } };
  await stateCollection(connection).updateOne({ _id: REPLACING }, at, { upsert: true });
}

type Collection = Pick<
  ReturnType<typeof entryModel>['collection'],
  'name' | 'indexes' | 'dropIndex' | 'createIndex' | 'conn'
>;

const namesOf = async (collection: Collection) =>
  new Set((await collection.indexes()).map(({ name }) => name));

/** @returns those that there were, with their collection */
async function dropIndexes(collection: Collection, names: readonly string[]): Promise<string[]> {
  const existing = await namesOf(collection);
  const old = names.filter((name) => existing.has(name));
  for (const name of old) await collection.dropIndex(name);
  return old.map((name) => `${collection.name}.${name}`);
}

/** The TTL index of a part of the push log; a changed retention (milliseconds) changes it in place. */
async function keepFor(
  collection: Collection,
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

/** Which CONCLUDED_STATUSES the phases of all matters were derived with. */
interface Derived {
  readonly _id: string;
  readonly statuses: readonly string[];
  readonly runs: number;
}

const DERIVED = 'concluded statuses';
/**
 * Runs after a change that look at all matters: that of the change itself, and the next one, for what
 * processes with the old setting wrote while they were still there.
 */
const RUNS = 2;

/** A changed CONCLUDED_STATUSES moves stored matters between open and concluded. */
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
  const now = { $set: { statuses, runs: runs + 1 } };
  await state.updateOne({ _id: DERIVED }, now, { upsert: true });
}
