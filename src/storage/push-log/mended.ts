/** Finds the later push that resolved ("mended") a failed push. */
import { type Connection, type mongo, Types } from 'mongoose';
import { nativeCollection } from '../../infra/mongo';
import {
  type FailedEntry,
  firstAfter,
  isSamePush,
  keyOfAttempts,
  type MendingEntry,
  positionOf,
} from './attempts';
import { entryModel, KEY_INDEX, type LogEntry, RESENT_INDEX } from './entry';

/**
 * @param failed pushes of one system
 * @param resendRequestId excludes the pushes of this resend request
 * @returns the resolving push, by request id of the failed push
 */
export type FindMended = (
  systemCode: string,
  failed: readonly FailedEntry[],
  resendRequestId?: string,
) => Promise<ReadonlyMap<string, MendingEntry>>;

const FIELDS = {
  clientId: 1,
  operation: 1,
  externalId: 1,
  idempotencyKey: 1,
  state: 1,
  result: 1,
  receivedAt: 1,
  settledAt: 1,
  resentFrom: 1,
  batchId: 1,
};
const SUCCEEDED = ['PERSISTED', 'REPLAYED'] as const satisfies LogEntry['state'][];
/** Indexes of the fields that link a resolving push to a failed push. */
const INDEX_OF = { externalId: 'matter_history', idempotencyKey: KEY_INDEX } as const;
type LinkField = keyof typeof INDEX_OF;

const VALUES_PER_COMMAND = 1_000;
const EXTRA_PUSHES = 4_000;
const OLDEST_PER_VALUE = 100;
const MAX_CONCURRENT = 20;
const TIMEOUT = 10_000;

/** @param pending includes later pushes that are still queued */
export function createFindMended(connection: Connection, pending?: 'pending'): FindMended {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  const states = pending ? [...SUCCEEDED, 'QUEUED' as const] : SUCCEEDED;
  return async (systemCode, failed, resendRequestId) => {
    const [ofMatters, ofKeys, resends] = await Promise.all([
      laterPushes({ collection, systemCode, states, field: 'externalId' }, failed),
      laterPushes({ collection, systemCode, states, field: 'idempotencyKey' }, failed),
      resendsOf(collection, systemCode, failed),
    ]);
    const mended = new Map<string, MendingEntry>();
    for (const entry of failed) {
      const id = String(entry._id);
      // A replayed push did not change the matter.
      const ofMatter = ofMatters.get(entry.externalId ?? '') ?? [];
      const persisted = ofMatter.filter(({ state }) => state !== 'REPLAYED');
      const ofKey = ofKeys.get(keyOfAttempts(entry)) ?? [];
      const samePush = ofKey.filter((later) => isSamePush(later, entry));
      const candidates = [...persisted, ...samePush, ...(resends.get(id) ?? [])];
      const first = firstAfter(entry, candidates, resendRequestId);
      if (first) mended.set(id, first);
    }
    return mended;
  };
}

interface LaterReads {
  readonly collection: mongo.Collection<LogEntry>;
  readonly systemCode: string;
  readonly states: readonly LogEntry['state'][];
  readonly field: LinkField;
}

/** @returns pushes by value of `field` */
async function laterPushes(
  reads: LaterReads,
  failed: readonly FailedEntry[],
): Promise<ReadonlyMap<string, readonly MendingEntry[]>> {
  const found = await inChunks(oldestOf(reads.field, failed), VALUES_PER_COMMAND, (oldest) =>
    pushesOfValues(reads, oldest),
  );
  return groupBy(found, (mend) => String(mend[reads.field]));
}

async function pushesOfValues(
  reads: LaterReads,
  oldest: readonly Oldest[],
): Promise<readonly MendingEntry[]> {
  const max = oldest.length + EXTRA_PUSHES;
  const since = oldest.map(([, id]) => id).sort()[0] ?? '';
  const values = { $in: oldest.map(([value]) => value) };
  const all = await read(reads, [values, since], max);
  if (all.length < max) return all;
  return inChunks(oldest, MAX_CONCURRENT, async (chunk) => {
    const each = chunk.map((one) => pushesOfValue(reads, one));
    return (await Promise.all(each)).flat();
  });
}

async function pushesOfValue(reads: LaterReads, oldest: Oldest): Promise<readonly MendingEntry[]> {
  const first = await read(reads, oldest, OLDEST_PER_VALUE);
  return first.length < OLDEST_PER_VALUE
    ? first
    : [...first, ...(await read(reads, oldest, 1, true))];
}

function read(
  { collection, systemCode, states, field }: LaterReads,
  [value, since]: readonly [value: string | { readonly $in: readonly string[] }, since: string],
  max: number,
  newestFirst = false,
): Promise<MendingEntry[]> {
  const _id = { $gt: new Types.ObjectId(since) };
  const filter = { systemCode, [field]: value, _id, state: { $in: states } };
  return collection
    .find(filter as mongo.Filter<LogEntry>, { hint: INDEX_OF[field], maxTimeMS: TIMEOUT })
    .project<MendingEntry>(FIELDS)
    .sort({ systemCode: 1, [field]: 1, _id: newestFirst ? -1 : 1 })
    .limit(max)
    .toArray();
}

/** Finds the resends of those failed pushes that have no external id. */
async function resendsOf(
  collection: LaterReads['collection'],
  systemCode: string,
  failed: readonly FailedEntry[],
): Promise<ReadonlyMap<string, readonly MendingEntry[]>> {
  const ids = failed.flatMap(({ _id, externalId }) => (externalId === undefined ? [_id] : []));
  const options = { hint: RESENT_INDEX, maxTimeMS: TIMEOUT };
  const found = await inChunks(ids, VALUES_PER_COMMAND, (chunk) => {
    const filter = { resentFrom: { $in: [...chunk] }, systemCode, state: { $in: SUCCEEDED } };
    return collection.find(filter, options).project<MendingEntry>(FIELDS).toArray();
  });
  return groupBy(found, ({ resentFrom }) => String(resentFrom));
}

/** A value of a LinkField, and the position of the oldest failed push with this value. */
type Oldest = readonly [value: string, since: string];

function oldestOf(field: LinkField, failed: readonly FailedEntry[]): Oldest[] {
  const oldest = new Map<string, string>();
  for (const entry of failed) {
    const value = field === 'idempotencyKey' ? keyOfAttempts(entry) : entry.externalId;
    if (value === undefined) continue;
    const id = positionOf(entry);
    const known = oldest.get(value);
    if (known === undefined || id < known) oldest.set(value, id);
  }
  return [...oldest];
}

type Work<I, O> = (chunk: readonly I[]) => Promise<readonly O[]>;

async function inChunks<I, O>(items: readonly I[], size: number, work: Work<I, O>): Promise<O[]> {
  const found: O[] = [];
  for (let at = 0; at < items.length; at += size) {
    found.push(...(await work(items.slice(at, at + size))));
  }
  return found;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key) ?? [];
    group.push(item);
    groups.set(key, group);
  }
  return groups;
}
