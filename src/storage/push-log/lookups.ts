/** Reads of the push log that the way of a push needs. */
import { type Connection, type mongo, Types } from 'mongoose';
import type { Outcome } from '../../domain/decide';
import type { PriorResult } from '../../domain/fold';
import { nativeCollection } from '../mongo';
import { entryModel, FINGERPRINT_INDEX, type LogEntry } from './entry-model';
import { createKeyUses, type FindKeyUses } from './key-uses';
import { type Settlement, settlementOf } from './settlement';

/** How long a persisted outcome is repeated for the same key and body (decisions, "Idempotency key"). */
export const REPLAY_WINDOW = 24 * 3_600_000;

/** Answers rest on these reads: they must not see what the majority has not confirmed yet. */
const CONFIRMED_READ = { readConcern: { level: 'majority' } } as const;

const PRIOR_ENTRY_FIELDS = {
  idempotencyFingerprint: 1,
  externalId: 1,
  result: 1,
  matterId: 1,
  settledAt: 1,
  warnings: 1,
};

export interface LogLookups {
  /** What became of pushes, by request id; `undefined` for those still queued, no entry for unknown. */
  settlements(ids: readonly string[]): Promise<Map<string, Settlement | undefined>>;
  /**
   * The first persisted push of each idempotency fingerprint.
   *
   * @param since epoch milliseconds
   * @param level `local`: also results that the majority has not confirmed
   */
  priorResults(
    fingerprints: readonly string[],
    since: number,
    level?: 'majority' | 'local',
  ): Promise<Map<string, PriorResult>>;
  /** The same as entries, confirmed: their id, externalId, result, matterId and warnings. */
  priorEntries(fingerprints: readonly string[], since: number): Promise<Map<string, LogEntry>>;
  /** Returns the request ids that an operator has resent with success. */
  resent(ids: readonly string[]): Promise<Set<string>>;
  /** Who used these idempotency keys before. */
  readonly keyUses: FindKeyUses;
}

export function createLogLookups(connection: Connection): LogLookups {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  return {
    settlements: async (ids) => {
      const found = await collection
        .find({ _id: { $in: ids.map((id) => new Types.ObjectId(id)) } }, CONFIRMED_READ)
        .project<LogEntry>({ state: 1, result: 1, matterId: 1, duplicateOf: 1, warnings: 1 })
        .toArray();
      return new Map(found.map((entry) => [String(entry._id), settlementOf(entry)]));
    },
    priorEntries: (fingerprints, since) =>
      findPriorEntries(collection, fingerprints, since, 'majority'),
    priorResults: async (fingerprints, since, level = 'majority') => {
      const found = await findPriorEntries(collection, fingerprints, since, level);
      return new Map([...found].map(([key, entry]) => [key, priorResultOf(entry)]));
    },
    resent: async (ids) => {
      const found = await collection
        .find({ resentFrom: { $in: ids.map((id) => new Types.ObjectId(id)) } }, CONFIRMED_READ)
        .project<LogEntry>({ resentFrom: 1, state: 1 })
        .toArray();
      const done = found.filter(({ state }) => state === 'PERSISTED' || state === 'REPLAYED');
      return new Set(done.map(({ resentFrom }) => String(resentFrom)));
    },
    keyUses: createKeyUses(connection),
  };
}

/** @returns by fingerprint, the entry of the first push that took effect since then */
async function findPriorEntries(
  collection: mongo.Collection<LogEntry>,
  fingerprints: readonly string[],
  since: number,
  level: 'majority' | 'local',
): Promise<Map<string, LogEntry>> {
  if (fingerprints.length === 0) return new Map();
  const found = await collection
    .find(
      { idempotencyFingerprint: { $in: [...new Set(fingerprints)] }, state: 'PERSISTED' },
      { hint: FINGERPRINT_INDEX, readConcern: { level } },
    )
    .project<LogEntry>(PRIOR_ENTRY_FIELDS)
    .toArray();
  const recent = found.filter(({ settledAt }) => settledAt && settledAt.getTime() > since);
  // Newest first, so that the map keeps the first one of each key.
  recent.sort((a, b) => String(b._id).localeCompare(String(a._id)));
  return new Map(recent.map((entry) => [String(entry.idempotencyFingerprint), entry]));
}

function priorResultOf(entry: LogEntry): PriorResult {
  return {
    pushId: String(entry._id),
    outcome: entry.result as Outcome,
    matterId: BigInt(entry.matterId ?? 0n),
  };
}
