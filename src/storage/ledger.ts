/**
 * Entry point of `storage/ledger/`: only `storage/` and tests import the other files. Instants are epoch milliseconds.
 *
 * - `createLedger`: loads matters, and writes a changed matter if no other process has changed the matter meanwhile.
 * - `createSnowflakes`: makes the ids of new matters.
 * - `createMatterReader`: reads for queries and tools. A read that exceeds its time limit throws an error.
 *
 * All functions throw the errors of the driver.
 */
import type { Connection, mongo } from 'mongoose';
import type { Clock } from '../concurrency/timing';
import type { Matter } from '../domain/matter';
import { nativeCollection } from '../infra/mongo';
import {
  changedFields,
  type MatterKey,
  type MatterRecord,
  matterModel,
  toMatter,
  toRecord,
} from './ledger/matters';

export { type MatterKey, type MatterRecord, matterModel, toMatter } from './ledger/matters';
export * from './ledger/read-matters';
export type * from './ledger/search-matters';

/** The change of one matter: `before` as it was loaded (undefined for a new matter), `after` as it is written. */
export interface MatterChange {
  readonly before: Matter | undefined;
  readonly after: Matter;
}

export interface Ledger {
  /** Reads the matters of the keys with one command per system. The order of the result is undefined. */
  load(keys: readonly MatterKey[]): Promise<Matter[]>;
  /**
   * Writes changes within a transaction. `write` writes a change only if the matter still has the loaded revision.
   *
   * @returns the number of written changes. If a change was not written, another process has changed the matter. The
   *   caller must then not commit the transaction
   * @throws the driver's duplicate key error if another process has created one of the new matters
   */
  write(changes: readonly MatterChange[], session: mongo.ClientSession): Promise<number>;
}

export function createLedger(connection: Connection): Ledger {
  // The ledger uses the driver's collection instead of the Mongoose model. All values already have the stored types,
  // so the casts of Mongoose would only cost time.
  const collection = nativeCollection<MatterRecord>(matterModel(connection));
  return {
    load: async (keys) => {
      const found = await Promise.all(
        [...groupBySystem(keys)].map(([systemCode, ids]) =>
          collection.find({ systemCode, externalId: { $in: ids } }).toArray(),
        ),
      );
      return found.flat().map(toMatter);
    },
    write: async (changes, session) => {
      if (changes.length === 0) return 0;
      const result = await collection.bulkWrite(changes.map(toMatterWrite), {
        session,
        ordered: false,
      });
      return result.matchedCount + result.insertedCount;
    },
  };
}

/** Groups the external ids by system, because a query with one `$in` for one system can use the index `key`. */
function groupBySystem(keys: readonly MatterKey[]): Map<string, string[]> {
  const systems = new Map<string, string[]>();
  for (const { systemCode, externalId } of keys) {
    const ids = systems.get(systemCode) ?? [];
    ids.push(externalId);
    systems.set(systemCode, ids);
  }
  return systems;
}

function toMatterWrite({ before, after }: MatterChange): mongo.AnyBulkWriteOperation<MatterRecord> {
  if (!before) return { insertOne: { document: toRecord(after) } };
  const { matterId: _id, revision, systemCode, externalId } = before;
  return {
    updateOne: {
      // The filter contains the key, so that a MongoDB cluster that is sharded by the key sends the update to one
      // shard.
      filter: { _id, revision, systemCode, externalId },
      // Without the hint, the query planner of MongoDB compares the indexes for each update.
      hint: '_id_',
      update: { $set: changedFields(before, after) },
    },
  };
}

/**
 * The instant from which matter ids count time. An id has 63 bits: 41 for milliseconds since this instant, 10 for the
 * worker number, 12 for a counter. The ids of a worker always increase, even if its clock is set back. Each worker
 * leases its own number (`queue/commands/worker-number.ts`). If two workers had the same number, the ledger would
 * reject duplicate ids.
 */
const EPOCH = Date.UTC(2024, 0, 1);
const WORKER_BITS = 10n;
const SEQUENCE_BITS = 12n;
const MAX_SEQUENCE = (1 << Number(SEQUENCE_BITS)) - 1;

export const MAX_WORKERS = 1 << Number(WORKER_BITS);

/**
 * @param workerNumber returns the number that this process leases, 0 to MAX_WORKERS - 1; can throw if the lease is lost
 */
export function createSnowflakes(workerNumber: () => number, clock: Clock): () => bigint {
  let last = 0;
  let sequence = 0;
  let lastWorker = -1;
  return () => {
    const worker = workerNumber();
    const now = clock() - EPOCH;
    if (now > last) {
      last = now;
      sequence = 0;
    } else if (sequence < MAX_SEQUENCE && worker === lastWorker) {
      sequence += 1;
    } else {
      // More than 4,096 ids in a millisecond, or a new worker number: continue with the next millisecond.
      last += 1;
      sequence = 0;
    }
    lastWorker = worker;
    const high = (BigInt(last) << WORKER_BITS) | BigInt(worker);
    return (high << SEQUENCE_BITS) | BigInt(sequence);
  };
}
