/** Lists the required indexes of all collections, and finds missing indexes. */
import type { Connection, mongo } from 'mongoose';
import { isMissingCollection } from '../../infra/driver-errors';
import { auditModel } from '../audit';
import { clientModel } from '../directory/client-model';
import { FOLDED_INDEX, userModel } from '../directory/user-model';
import { matterModel } from '../ledger/matters';
import { bodyModel, entryModel } from '../push-log/entry';
import { countModel } from '../push-log/read-counts';

/** Name of the TTL indexes that delete old entries, bodies and counts of the push log. */
export const RETENTION = 'retention';

export interface CollectionModel {
  readonly schema: { indexes(): (readonly [unknown, object])[] };
  readonly collection: {
    readonly name: string;
    createIndexes(specifications: mongo.IndexDescription[]): Promise<unknown>;
  };
  createCollection(): Promise<unknown>;
}

export const modelsOf = (connection: Connection): readonly CollectionModel[] =>
  [
    ...[matterModel, entryModel, bodyModel, countModel],
    ...[clientModel, userModel, auditModel],
  ].map((make) => make(connection));

/** @returns names of the form `collection.index` */
export async function findMissingIndexes(connection: Connection): Promise<string[]> {
  const missing = await Promise.all(
    modelsOf(connection).map(async (model) => {
      const collection = model.collection.name;
      const existing = await indexesOf(connection, collection);
      const names = expectedIndexes(connection, model).filter((name) => !existing.has(name));
      return names.map((name) => `${collection}.${name}`);
    }),
  );
  return missing.flat();
}

/** FOLDED_INDEX is optional: only the suggestions for unknown usernames use this index. */
function expectedIndexes(connection: Connection, { schema, collection }: CollectionModel) {
  const withRetention: readonly string[] = [entryModel, bodyModel, countModel].map(
    (make) => make(connection).collection.name,
  );
  const own = schema
    .indexes()
    .map(([, options]) => String((options as { name?: string }).name))
    .filter((index) => index !== FOLDED_INDEX);
  return withRetention.includes(collection.name) ? [...own, RETENTION] : own;
}

async function indexesOf(connection: Connection, collection: string): Promise<Set<unknown>> {
  try {
    const found = await connection.collection(collection).indexes();
    return new Set(found.map(({ name }) => name));
  } catch (error) {
    if (isMissingCollection(error)) return new Set();
    throw error;
  }
}
