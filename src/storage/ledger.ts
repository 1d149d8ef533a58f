/**
 * Entry point of `storage/ledger/`. Production code outside `storage/` must not import other files of
 * `storage/ledger/`. Instants are epoch milliseconds.
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

/** `before` is undefined for a new matter. */
export interface MatterChange {
  readonly before: Matter | undefined;
  readonly after: Matter;
}

export interface Ledger {
  /** Returns the existing matters of the keys, in no defined order. */
  load(keys: readonly MatterKey[]): Promise<Matter[]>;
  /**
   * Writes a change only if the matter still has the revision of `before`.
   *
   * @returns the number of written changes; the caller must commit only if all changes were written
   * @throws the driver's duplicate key error if a new matter exists already
   */
  write(changes: readonly MatterChange[], session: mongo.ClientSession): Promise<number>;
}

export function createLedger(connection: Connection): Ledger {
  // The native collection is faster than the Mongoose model.
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

/** A query for one system can use the index `key`. */
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
      // In a sharded collection, `systemCode` and `externalId` limit the update to one shard.
      filter: { _id, revision, systemCode, externalId },
      // Without the hint, the query planner of MongoDB compares the indexes for each update.
      hint: '_id_',
      update: { $set: changedFields(before, after) },
    },
  };
}

/** A matter id consists of the milliseconds since EPOCH, the worker number and a counter. */
const EPOCH = Date.UTC(2024, 0, 1);
const WORKER_BITS = 10n;
const SEQUENCE_BITS = 12n;
const MAX_SEQUENCE = (1 << Number(SEQUENCE_BITS)) - 1;

export const MAX_WORKERS = 1 << Number(WORKER_BITS);

/** @param workerNumber returns the leased number of this process; throws if the lease is lost */
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
      // The counter has reached its maximum, or the worker number is new.
      last += 1;
      sequence = 0;
    }
    lastWorker = worker;
    const high = (BigInt(last) << WORKER_BITS) | BigInt(worker);
    return (high << SEQUENCE_BITS) | BigInt(sequence);
  };
}
