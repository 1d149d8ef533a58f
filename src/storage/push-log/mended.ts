/**
 * Finds the later push that resolved ("mended") a failed push. The resolving push is a persisted push of the same
 * matter, or a successful push with the same client, operation and idempotency key. A stale push counts too, because
 * the matter has newer data.
 *
 * A resend has the position of the push that it sends again. The resend resolves this push and earlier pushes of the
 * matter, but no push between this push and the resend. If the console sends a push without a key again, it uses a
 * key that contains the request id of the push. If a failed push has no matter, its resend is found by `resentFrom`.
 * Failed pushes without a matter but with the same key are attempts of one push: a resend of any of them resolves all
 * of them.
 */
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
 * Finds the push that resolved each failed push.
 *
 * @param failed failed pushes of one system
 * @param resend request id of a resend request, if `failed` are the new pushes of this request. Pushes of this
 *   request do not count. A queued push of another resend request counts even if both send the same push again
 * @returns by request id of the failed push, the first push that resolved it. If a matter or key has very many
 *   pushes, the result may be a later resolving push. Failed pushes that no push has resolved are left out
 */
export type FindMended = (
  systemCode: string,
  failed: readonly FailedEntry[],
  resend?: string,
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
/**
 * The two fields by which a resolving push is found, each with its index. In this file, a name is a value of such a
 * field.
 */
const INDEX_OF = { externalId: 'matter_history', idempotencyKey: KEY_INDEX } as const;
type LinkField = keyof typeof INDEX_OF;

/** Maximum names or ids in one command. */
const NAMES_PER_COMMAND = 1_000;
/** If a command finds this many more pushes than names, the pushes of each name are read with a separate command. */
const EXTRA_PUSHES = 4_000;
/** Maximum pushes that such a command reads, oldest first. If there are more pushes, the newest push is read too. */
const OLDEST_PER_NAME = 100;
/** Maximum concurrent reads, so that connections remain for other work. */
const MAX_CONCURRENT = 20;
/** Milliseconds for one command of the database. */
const TIMEOUT = 10_000;

/** @param pending also finds later pushes that are still queued, because they may resolve the failed push */
export function createFindMended(connection: Connection, pending?: 'pending'): FindMended {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  const states = pending ? [...SUCCEEDED, 'QUEUED' as const] : SUCCEEDED;
  return async (systemCode, failed, resend) => {
    const [ofMatters, ofKeys, resends] = await Promise.all([
      laterPushes({ collection, systemCode, states, field: 'externalId' }, failed),
      laterPushes({ collection, systemCode, states, field: 'idempotencyKey' }, failed),
      resendsOf(collection, systemCode, failed),
    ]);
    const mended = new Map<string, MendingEntry>();
    for (const entry of failed) {
      const id = String(entry._id);
      // A replayed push changed nothing, so it resolves no other push of its matter.
      const ofMatter = ofMatters.get(entry.externalId ?? '') ?? [];
      const persisted = ofMatter.filter(({ state }) => state !== 'REPLAYED');
      const ofKey = ofKeys.get(keyOfAttempts(entry)) ?? [];
      const samePush = ofKey.filter((later) => isSamePush(later, entry));
      const candidates = [...persisted, ...samePush, ...(resends.get(id) ?? [])];
      const first = firstAfter(entry, candidates, resend);
      if (first) mended.set(id, first);
    }
    return mended;
  };
}

/** The parameters that all reads of later pushes share. */
interface LaterReads {
  readonly collection: mongo.Collection<LogEntry>;
  readonly systemCode: string;
  readonly states: readonly LogEntry['state'][];
  readonly field: LinkField;
}

/** @returns by the value of `field`, pushes after the oldest failed push; some may precede other failed pushes */
async function laterPushes(
  reads: LaterReads,
  failed: readonly FailedEntry[],
): Promise<ReadonlyMap<string, readonly MendingEntry[]>> {
  const found = await inChunks(oldestOf(reads.field, failed), NAMES_PER_COMMAND, (names) =>
    pushesOfNames(reads, names),
  );
  return groupBy(found, (mend) => String(mend[reads.field]));
}

async function pushesOfNames(
  reads: LaterReads,
  names: readonly Oldest[],
): Promise<readonly MendingEntry[]> {
  const max = names.length + EXTRA_PUSHES;
  const since = names.map(([, id]) => id).sort()[0] ?? '';
  const named = { $in: names.map(([name]) => name) };
  const all = await read(reads, [named, since], max);
  if (all.length < max) return all;
  return inChunks(names, MAX_CONCURRENT, async (some) => {
    const each = some.map((name) => pushesOfName(reads, name));
    return (await Promise.all(each)).flat();
  });
}

async function pushesOfName(reads: LaterReads, oldest: Oldest): Promise<readonly MendingEntry[]> {
  const first = await read(reads, oldest, OLDEST_PER_NAME);
  return first.length < OLDEST_PER_NAME
    ? first
    : [...first, ...(await read(reads, oldest, 1, true))];
}

function read(
  { collection, systemCode, states, field }: LaterReads,
  [name, since]: readonly [name: string | { readonly $in: readonly string[] }, since: string],
  max: number,
  newestFirst = false,
): Promise<MendingEntry[]> {
  const _id = { $gt: new Types.ObjectId(since) };
  const filter = { systemCode, [field]: name, _id, state: { $in: states } };
  return collection
    .find(filter as mongo.Filter<LogEntry>, { hint: INDEX_OF[field], maxTimeMS: TIMEOUT })
    .project<MendingEntry>(FIELDS)
    .sort({ systemCode: 1, [field]: 1, _id: newestFirst ? -1 : 1 })
    .limit(max)
    .toArray();
}

/** Finds the resends of failed pushes without an external id. Other resends are found by their external id. */
async function resendsOf(
  collection: LaterReads['collection'],
  systemCode: string,
  failed: readonly FailedEntry[],
): Promise<ReadonlyMap<string, readonly MendingEntry[]>> {
  const ids = failed.flatMap(({ _id, externalId }) => (externalId === undefined ? [_id] : []));
  const options = { hint: RESENT_INDEX, maxTimeMS: TIMEOUT };
  const found = await inChunks(ids, NAMES_PER_COMMAND, (some) => {
    const filter = { resentFrom: { $in: [...some] }, systemCode, state: { $in: SUCCEEDED } };
    return collection.find(filter, options).project<MendingEntry>(FIELDS).toArray();
  });
  return groupBy(found, ({ resentFrom }) => String(resentFrom));
}

/** A name and the position of its oldest failed push: only later pushes can resolve one of its failed pushes. */
type Oldest = readonly [name: string, since: string];

function oldestOf(field: LinkField, failed: readonly FailedEntry[]): Oldest[] {
  const oldest = new Map<string, string>();
  for (const entry of failed) {
    const name = field === 'idempotencyKey' ? keyOfAttempts(entry) : entry.externalId;
    if (name === undefined) continue;
    const id = positionOf(entry);
    const known = oldest.get(name);
    if (known === undefined || id < known) oldest.set(name, id);
  }
  return [...oldest];
}

type Work<I, O> = (some: readonly I[]) => Promise<readonly O[]>;

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
