/** Writes of the push log: an entry before a push is queued, its settlement with the commit. */
import { type Connection, type mongo, Types } from 'mongoose';
import { createBatcher } from '../batcher';
import { commitTogether, nativeCollection } from '../mongo';
import { entryModel, type LogEntry } from './entry-model';
import type { Settlement } from './settlement';

/** One push's end. */
export interface SettledPush {
  /** Request id. */
  readonly id: string;
  readonly settlement: Settlement;
  /** The matter's revision after it, where it changed the matter: the order of effects. */
  readonly revision?: number;
  /** Makes it the precedent of retries with the same key and body. */
  readonly precedentKey?: string;
  /** The idempotency key was used before with another body. */
  readonly mark?: 'KEY_REUSED';
}

export interface PushLog {
  /** Records an entry, confirmed; entries that come together share one journal sync. */
  append(entry: LogEntry): Promise<void>;
  /**
   * Settles entries that are still queued, within the transaction of their effect or alone.
   *
   * @returns how many were settled; fewer than asked: some push was settled before, so it must not
   *   take effect again and the transaction must not be committed
   */
  settle(pushes: readonly SettledPush[], by: Settling): Promise<number>;
  /**
   * Settles entries that were lost on the way to a worker (a crash between log and queue, a Redis
   * that was emptied), so that they can never be applied later.
   *
   * @param before entries that were received before it (epoch milliseconds)
   */
  expire(before: number, by: Settling): Promise<number>;
}

export interface Settling {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Who settles: a process name. */
  readonly worker: string;
  readonly session?: mongo.ClientSession;
}

const MAX_BATCH = 500;

export function createPushLog(connection: Connection): PushLog {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  const appends = createBatcher<LogEntry, undefined>({
    run: async (entries) => {
      if (entries.length === 1 && entries[0]) await collection.insertOne(entries[0]);
      else {
        await commitTogether(connection, (session) => collection.insertMany(entries, { session }));
      }
      return entries.map(() => undefined);
    },
    maxBatch: MAX_BATCH,
    maxRunning: 2,
  });
  return {
    append: (entry) => appends.add(entry),
    settle: async (pushes, by) => {
      if (pushes.length === 0) return 0;
      const writes = pushes.map((push) => toWrite(push, by));
      const options = by.session ? { session: by.session } : {};
      const result = await collection.bulkWrite(writes, { ordered: false, ...options });
      return result.matchedCount;
    },
    expire: async (before, { now, worker }) => {
      const result = await collection.updateMany(
        { state: 'QUEUED', _id: { $lt: Types.ObjectId.createFromTime(Math.floor(before / 1000)) } },
        { $set: { state: 'EXPIRED', settledAt: new Date(now), worker } },
      );
      return result.modifiedCount;
    },
  };
}

function toWrite(
  { id, settlement, revision, precedentKey, mark }: SettledPush,
  { now, worker }: Settling,
): mongo.AnyBulkWriteOperation<LogEntry> {
  const { state } = settlement;
  const accepted = state === 'PERSISTED' || state === 'REPLAYED';
  return {
    updateOne: {
      filter: { _id: new Types.ObjectId(id), state: 'QUEUED' },
      update: {
        $set: {
          state,
          settledAt: new Date(now),
          worker,
          ...(accepted && { outcome: settlement.outcome, matterId: BigInt(settlement.matterId) }),
          ...(state === 'REPLAYED' && { origin: new Types.ObjectId(settlement.origin) }),
          ...(state === 'REFUSED' && { reason: settlement.reason }),
          ...(revision !== undefined && { revision }),
          ...(precedentKey !== undefined && { precedentKey }),
          ...(mark && { mark }),
        },
      },
    },
  };
}
