/** Reads of the push log that the way of a push needs. */
import { type Connection, Types } from 'mongoose';
import type { Outcome } from '../domain/decide';
import type { Precedent } from '../domain/fold';
import { nativeCollection } from '../mongo';
import { entryModel, type LogEntry } from './entry-model';
import { type Settlement, settlementOf } from './settlement';

/** How long a persisted outcome is repeated for the same key and body (decisions, "Idempotency key"). */
export const REPLAY_WINDOW = 24 * 3_600_000;

export interface LogLookups {
  /** What became of pushes, by request id; `undefined` for those still queued, no entry for unknown. */
  settlements(ids: readonly string[]): Promise<Map<string, Settlement | undefined>>;
  /** The first persisted push of each replay key since `since` (epoch milliseconds). */
  precedents(replayKeys: readonly string[], since: number): Promise<Map<string, Precedent>>;
  /** By key id, the body hash that the key was first used with. */
  firstBodies(keyIds: readonly string[]): Promise<Map<string, string>>;
}

export function createLogLookups(connection: Connection): LogLookups {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  return {
    settlements: async (ids) => {
      const found = await collection
        .find({ _id: { $in: ids.map((id) => new Types.ObjectId(id)) } })
        .project<LogEntry>({ state: 1, outcome: 1, reason: 1, matterId: 1, origin: 1 })
        .toArray();
      return new Map(found.map((entry) => [String(entry._id), settlementOf(entry)]));
    },
    precedents: async (replayKeys, since) => {
      if (replayKeys.length === 0) return new Map();
      const found = await collection
        .find({
          replayKey: { $in: [...new Set(replayKeys)] },
          state: 'PERSISTED',
          settledAt: { $gt: new Date(since) },
        })
        .sort({ _id: -1 })
        .project<LogEntry>({ replayKey: 1, outcome: 1, matterId: 1 })
        .toArray();
      // Newest first, so that the first one wins.
      return new Map(found.map((entry) => [String(entry.replayKey), precedentOf(entry)]));
    },
    firstBodies: async (keyIds) => {
      if (keyIds.length === 0) return new Map();
      const found = await collection
        .aggregate<{ _id: string; bodyHash: string }>([
          { $match: { keyId: { $in: [...new Set(keyIds)] } } },
          { $sort: { keyId: 1, _id: 1 } },
          { $group: { _id: '$keyId', bodyHash: { $first: '$bodyHash' } } },
        ])
        .toArray();
      return new Map(found.map(({ _id, bodyHash }) => [_id, bodyHash]));
    },
  };
}

function precedentOf(entry: LogEntry): Precedent {
  return {
    pushId: String(entry._id),
    outcome: entry.outcome as Outcome,
    matterId: BigInt(entry.matterId ?? 0n),
  };
}
