/** The ledger: loads the matters of a batch and writes what the fold made of them, guarded. */
import type { Connection, mongo } from 'mongoose';
import type { Matter } from '../../domain/matter';
import { nativeCollection } from '../mongo';
import { type MatterRecord, matterModel } from './matter-model';
import { changedFields, toMatter, toRecord } from './matter-record';

export interface MatterKey {
  readonly systemCode: string;
  readonly externalId: string;
}

/** What a fold made of one matter; `before` is what it read. */
export interface MatterChange {
  readonly before: Matter | undefined;
  readonly after: Matter;
}

export interface Ledger {
  /** Reads the matters of some keys, one command per system; the order of the result is the database's. */
  load(keys: readonly MatterKey[]): Promise<Matter[]>;
  /**
   * Writes changes within a transaction, each only if the matter still has the revision that was
   * read.
   *
   * @returns how many were written; fewer than asked: some guard failed, and the transaction must
   *   not be committed
   * @throws the driver's duplicate key error where a matter was created in the meantime
   */
  write(changes: readonly MatterChange[], session: mongo.ClientSession): Promise<number>;
}

export function createLedger(connection: Connection): Ledger {
  // The hot path speaks to the driver's collection: the fold has made the documents already.
  const collection = nativeCollection<MatterRecord>(matterModel(connection));
  return {
    load: async (keys) => {
      const found = await Promise.all(
        [...bySystem(keys)].map(([systemCode, ids]) =>
          collection.find({ systemCode, externalId: { $in: ids } }).toArray(),
        ),
      );
      return found.flat().map(toMatter);
    },
    write: async (changes, session) => {
      if (changes.length === 0) return 0;
      const result = await collection.bulkWrite(changes.map(toWrite), { session, ordered: false });
      return result.matchedCount + result.insertedCount;
    },
  };
}

/** The external ids of each system: one `$in` per system is answered from the key index alone. */
function bySystem(keys: readonly MatterKey[]): Map<string, string[]> {
  const systems = new Map<string, string[]>();
  for (const { systemCode, externalId } of keys) {
    const ids = systems.get(systemCode) ?? [];
    ids.push(externalId);
    systems.set(systemCode, ids);
  }
  return systems;
}

function toWrite({ before, after }: MatterChange): mongo.AnyBulkWriteOperation<MatterRecord> {
  if (!before) return { insertOne: { document: toRecord(after) } };
  const { matterId: _id, revision, systemCode, externalId } = before;
  return {
    updateOne: {
      // The key is there for a cluster that is sharded on it: it asks the one shard that has it.
      filter: { _id, revision, systemCode, externalId },
      // Without it the server weighs its indexes against each other at each update.
      hint: '_id_',
      update: { $set: changedFields(before, after) },
    },
  };
}
