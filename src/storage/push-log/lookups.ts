/** Finds push-log entries for the processing of pushes, queries and resends. */

import { type Connection, Types } from 'mongoose';
import { nativeCollection } from '../../infra/mongo';
import { entryModel, FINGERPRINT_INDEX, type LogEntry } from './entry';
import { type Settlement, settlementOf } from './settlement';

/** A retry within this many milliseconds gets the result of the first push (contract 5.1). */
export const REPLAY_WINDOW = 24 * 3_600_000;

/** Reads only writes that a failover of MongoDB cannot undo. */
const MAJORITY_READ = { readConcern: { level: 'majority' } } as const;

const PRIOR_ENTRY_FIELDS = {
  idempotencyFingerprint: 1,
  externalId: 1,
  result: 1,
  matterId: 1,
  settledAt: 1,
  warnings: 1,
};

export interface LogLookups {
  /**
   * Final states by request id. An id without an entry is absent. The value is undefined if the majority has not
   * confirmed a final state.
   */
  settlements(ids: readonly string[]): Promise<Map<string, Settlement | undefined>>;
  /**
   * The log entry of the first persisted push, by idempotency fingerprint. An entry has only PRIOR_ENTRY_FIELDS.
   *
   * @param since epoch milliseconds; omits pushes that were settled earlier
   * @param level `local` includes pushes that the majority has not confirmed
   */
  priorEntries(
    fingerprints: readonly string[],
    since: number,
    level?: 'majority' | 'local',
  ): Promise<Map<string, LogEntry>>;
  /** An entry that the majority has not confirmed counts as QUEUED. */
  entries(clientId: string, ids: readonly string[]): Promise<LogEntry[]>;
  /** Maps the request id of a push to the request id of its successful resend. */
  resent(ids: readonly string[]): Promise<Map<string, string>>;
  readonly keyUses: FindKeyUses;
}

const idIn = (ids: readonly string[]) => ({ $in: ids.map((id) => new Types.ObjectId(id)) });

export function createLogLookups(connection: Connection): LogLookups {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  const findUnconfirmed = async (
    ids: readonly string[],
    confirmed: readonly LogEntry[],
    filter: { readonly clientId?: string } = {},
  ): Promise<LogEntry[]> => {
    const known = new Set(confirmed.map(({ _id }) => String(_id)));
    const missing = ids.filter((id) => !known.has(id));
    return missing.length === 0 ? [] : collection.find({ ...filter, _id: idIn(missing) }).toArray();
  };
  return {
    settlements: async (ids) => {
      const confirmed = await collection
        .find({ _id: idIn(ids) }, MAJORITY_READ)
        .project<LogEntry>({ state: 1, result: 1, matterId: 1, duplicateOf: 1, warnings: 1 })
        .toArray();
      const unconfirmed = await findUnconfirmed(ids, confirmed);
      return new Map([
        ...confirmed.map((entry) => [String(entry._id), settlementOf(entry)] as const),
        ...unconfirmed.map(({ _id }) => [String(_id), undefined] as const),
      ]);
    },
    priorEntries: async (fingerprints, since, level = 'majority') => {
      if (fingerprints.length === 0) return new Map();
      const found = await collection
        .find(
          { idempotencyFingerprint: { $in: [...new Set(fingerprints)] }, state: 'PERSISTED' },
          { hint: FINGERPRINT_INDEX, readConcern: { level } },
        )
        .project<LogEntry>(PRIOR_ENTRY_FIELDS)
        .toArray();
      const recent = found.filter(({ settledAt }) => settledAt && settledAt.getTime() > since);
      // Newest first: in the map, the oldest entry of each fingerprint overwrites the newer entries.
      recent.sort((a, b) => String(b._id).localeCompare(String(a._id)));
      return new Map(recent.map((entry) => [String(entry.idempotencyFingerprint), entry]));
    },
    entries: async (clientId, ids) => {
      const confirmed = await collection
        .find({ _id: idIn(ids), clientId }, MAJORITY_READ)
        .toArray();
      const unconfirmed = await findUnconfirmed(ids, confirmed, { clientId });
      return [
        ...confirmed,
        ...unconfirmed.map((entry) => ({ ...entry, state: 'QUEUED' as const })),
      ];
    },
    resent: async (ids) => {
      const found = await collection
        .find({ resentFrom: idIn(ids) }, MAJORITY_READ)
        .project<LogEntry>({ resentFrom: 1, state: 1 })
        .toArray();
      const done = found.filter(({ state }) => state === 'PERSISTED' || state === 'REPLAYED');
      return new Map(done.map(({ _id, resentFrom }) => [String(resentFrom), String(_id)]));
    },
    keyUses: createKeyUses(connection),
  };
}

// The uses of a key are the pushes with the same client, operation and idempotency key.

export interface KeyOwner {
  readonly systemCode?: string;
  readonly clientId: string;
  readonly operation: string;
  readonly idempotencyKey?: string;
}

export type KeyUse = Pick<
  LogEntry,
  '_id' | 'clientId' | 'operation' | 'idempotencyKey' | 'bodyHash' | 'state' | 'queuedAt'
>;

/**
 * For each owner, finds pushes with the owner's system and idempotency key. The result contains at least the first
 * USES_PER_KEY of these pushes.
 */
export type FindKeyUses = (owners: readonly KeyOwner[]) => Promise<KeyUses>;

export interface KeyUses {
  /** Body hash of the first use. A use that `web` rejected before the queue does not count. */
  firstBody(owner: KeyOwner): string | undefined;
  /**
   * Request id of the first persisted push with the same key and body, without pushes more than REPLAY_WINDOW older.
   */
  effectOf(entry: LogEntry): string | undefined;
  /**
   * Position among the uses of the key, from 1. Undefined if the position is above USES_PER_KEY, or if the lookup did
   * not find the entry.
   */
  attempt(entry: KeyOwner & Pick<LogEntry, '_id'>): number | undefined;
}

const USES_PER_KEY = 100;
const EXTRA_USES = 1_000;
/** Maximum concurrent reads for one system. The limit leaves connections for other work. */
const MAX_CONCURRENT = 20;
const FIELDS = { clientId: 1, operation: 1, idempotencyKey: 1, bodyHash: 1, state: 1, queuedAt: 1 };

export function createKeyUses(connection: Connection): FindKeyUses {
  const collection = nativeCollection<LogEntry>(entryModel(connection));

  const ofSystem = async (systemCode: string, keys: readonly string[]): Promise<KeyUse[]> => {
    const max = keys.length + EXTRA_USES;
    const all = await collection
      .find({ systemCode, idempotencyKey: { $in: [...keys] } })
      .project<KeyUse>(FIELDS)
      .limit(max)
      .toArray();
    if (all.length < max) return all;
    const found: KeyUse[] = [];
    for (let at = 0; at < keys.length; at += MAX_CONCURRENT) {
      const each = keys.slice(at, at + MAX_CONCURRENT).map((key) => firstUses(systemCode, key));
      found.push(...(await Promise.all(each)).flat());
    }
    return found;
  };

  const firstUses = (systemCode: string, idempotencyKey: string) =>
    collection
      .find({ systemCode, idempotencyKey })
      .sort({ _id: 1 })
      .limit(USES_PER_KEY)
      .project<KeyUse>(FIELDS)
      .toArray();

  return async (owners) => {
    const keys = new Map<string, Set<string>>();
    for (const { systemCode, idempotencyKey } of owners) {
      if (systemCode === undefined || idempotencyKey === undefined) continue;
      keys.set(systemCode, (keys.get(systemCode) ?? new Set()).add(idempotencyKey));
    }
    const found = await Promise.all([...keys].map(([system, of]) => ofSystem(system, [...of])));
    return toUses(found.flat());
  };
}

function toUses(found: readonly KeyUse[]): KeyUses {
  const sorted = [...found].sort((a, b) => (String(a._id) < String(b._id) ? -1 : 1));
  const byOwner = new Map<string, KeyUse[]>();
  for (const use of sorted) {
    const uses = byOwner.get(identityOf(use)) ?? [];
    uses.push(use);
    byOwner.set(identityOf(use), uses);
  }
  const usesOf = (owner: KeyOwner) => byOwner.get(identityOf(owner)) ?? [];
  return {
    firstBody: (owner) => usesOf(owner).find(wasQueued)?.bodyHash,
    effectOf: (entry) => {
      const persisted = usesOf(entry).find(
        (use) =>
          use.state === 'PERSISTED' && use.bodyHash === entry.bodyHash && isSamePush(use, entry),
      );
      return persisted && String(persisted._id);
    },
    attempt: (entry) => {
      const index = usesOf(entry).findIndex(({ _id }) => _id.equals(entry._id));
      return index === -1 || index >= USES_PER_KEY ? undefined : index + 1;
    },
  };
}

/**
 * Whether `use` and `push`, which have the same key and body, are attempts of one push. An earlier use counts only
 * within REPLAY_WINDOW before `push`; a later use always counts.
 */
const isSamePush = ({ _id }: KeyUse, push: { readonly _id: Types.ObjectId }): boolean =>
  String(_id) > String(push._id) ||
  push._id.getTimestamp().getTime() - _id.getTimestamp().getTime() <= REPLAY_WINDOW;

/** If `web` rejects a push before the queue, the client may correct the body and keep the key. */
const wasQueued = ({ state, queuedAt }: KeyUse) => state !== 'REFUSED' || queuedAt !== undefined;

const identityOf = ({ clientId, operation, idempotencyKey }: KeyOwner) =>
  [clientId, operation, idempotencyKey].join('\n');
