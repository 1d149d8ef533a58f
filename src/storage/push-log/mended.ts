/**
 * Which failed pushes were mended: a later push of the same matter was persisted, or the same push
 * (client, operation and idempotency key) took effect later. What was ignored as stale counts: a newer
 * push was there before. A push without a key is known again by the key under which the console sends it, and
 * one without a matter by the link of an operator's resend.
 */
import { type Connection, type mongo, Types } from 'mongoose';
import { nativeCollection } from '../mongo';
import { entryModel, KEY_INDEX, type LogEntry, RESENT_INDEX } from './entry-model';

export type FailedEntry = Pick<
  LogEntry,
  '_id' | 'clientId' | 'operation' | 'externalId' | 'idempotencyKey'
>;

export type MendingEntry = FailedEntry &
  Pick<LogEntry, 'state' | 'result' | 'receivedAt' | 'settledAt' | 'resentFrom'>;

/**
 * @param failed of one system
 * @returns by request id of the failure the first later push that mended it, or, where a matter or key has
 *   very many, a later one; those that nothing mended are left out
 */
export type FindMended = (
  systemCode: string,
  failed: readonly FailedEntry[],
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
};
const TOOK_EFFECT: LogEntry['state'][] = ['PERSISTED', 'REPLAYED'];
/** The console sends a push that has no key under this and its request id. */
const CONSOLE = 'console/';
/** What names a push's matter or the push itself, and the index that begins with it. */
const WAYS = { externalId: 'matter_history', idempotencyKey: KEY_INDEX } as const;
type Way = keyof typeof WAYS;

/** Names of one command. */
const AT_ONCE = 1_000;
/** Beyond so many later pushes more than names, some name has very many: each is looked up alone. */
const SPARE = 4_000;
/** Of one such name: the first ones that are read; the newest one besides. */
const PER_NAME = 100;
/** Reads side by side, so that they leave connections for others. */
const AT_A_TIME = 20;
/** Milliseconds for one command of the database. */
const TIMEOUT = 10_000;

export function createFindMended(connection: Connection): FindMended {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  return async (systemCode, failed) => {
    const [ofMatters, ofKeys, resends] = await Promise.all([
      laterOf({ collection, systemCode, way: 'externalId' }, failed),
      laterOf({ collection, systemCode, way: 'idempotencyKey' }, failed),
      resendsOf(collection, systemCode, failed),
    ]);
    const mended = new Map<string, MendingEntry>();
    for (const entry of failed) {
      const id = String(entry._id);
      // A retry that repeats an earlier outcome says nothing of what else failed of its matter.
      const ofMatter = ofMatters.get(entry.externalId ?? '') ?? [];
      const persisted = ofMatter.filter(({ state }) => state === 'PERSISTED');
      const ofKey = ofKeys.get(keyOf(entry)) ?? [];
      const samePush = ofKey.filter((later) => isSamePush(later, entry));
      const first = firstAfter(entry, [...persisted, ...samePush, ...(resends.get(id) ?? [])]);
      if (first) mended.set(id, first);
    }
    return mended;
  };
}

/** Along which names of a system later pushes are read. */
interface Along {
  readonly collection: mongo.Collection<LogEntry>;
  readonly systemCode: string;
  readonly way: Way;
}

/** @returns by name, the later pushes of all names that failures have */
async function laterOf(
  along: Along,
  failed: readonly FailedEntry[],
): Promise<ReadonlyMap<string, readonly MendingEntry[]>> {
  const found = await inSteps(oldestOf(along.way, failed), AT_ONCE, (names) =>
    ofNames(along, names),
  );
  return groupBy(found, (mend) => String(mend[along.way]));
}

async function ofNames(along: Along, names: readonly Oldest[]): Promise<readonly MendingEntry[]> {
  const most = names.length + SPARE;
  const since = names.map(([, id]) => id).sort()[0] ?? '';
  const named = { $in: names.map(([name]) => name) };
  const all = await read(along, [named, since], most);
  if (all.length < most) return all;
  return inSteps(names, AT_A_TIME, async (some) => {
    const each = some.map((name) => ofName(along, name));
    return (await Promise.all(each)).flat();
  });
}

async function ofName(along: Along, oldest: Oldest): Promise<readonly MendingEntry[]> {
  const first = await read(along, oldest, PER_NAME);
  return first.length < PER_NAME ? first : [...first, ...(await read(along, oldest, 1, true))];
}

function read(
  { collection, systemCode, way }: Along,
  [name, since]: readonly [name: string | { readonly $in: readonly string[] }, since: string],
  most: number,
  newestFirst = false,
): Promise<MendingEntry[]> {
  const _id = { $gt: new Types.ObjectId(since) };
  const filter = { systemCode, [way]: name, _id, state: { $in: TOOK_EFFECT } };
  return collection
    .find(filter as mongo.Filter<LogEntry>, { hint: WAYS[way], maxTimeMS: TIMEOUT })
    .project<MendingEntry>(FIELDS)
    .sort({ systemCode: 1, [way]: 1, _id: newestFirst ? -1 : 1 })
    .limit(most)
    .toArray();
}

/** An operator's resend names its matter, by which it is found, and has no key. */
async function resendsOf(
  collection: Along['collection'],
  systemCode: string,
  failed: readonly FailedEntry[],
): Promise<ReadonlyMap<string, readonly MendingEntry[]>> {
  const ids = failed.flatMap(({ _id, externalId }) => (externalId === undefined ? [_id] : []));
  const options = { hint: RESENT_INDEX, maxTimeMS: TIMEOUT };
  const found = await inSteps(ids, AT_ONCE, (some) => {
    const filter = { resentFrom: { $in: [...some] }, systemCode, state: { $in: TOOK_EFFECT } };
    return collection.find(filter, options).project<MendingEntry>(FIELDS).toArray();
  });
  return groupBy(found, ({ resentFrom }) => String(resentFrom));
}

/** Name, and the oldest failure under it: what came before mended nothing. */
type Oldest = readonly [name: string, since: string];

function oldestOf(way: Way, failed: readonly FailedEntry[]): Oldest[] {
  const oldest = new Map<string, string>();
  for (const entry of failed) {
    const name = way === 'idempotencyKey' ? keyOf(entry) : entry.externalId;
    if (name === undefined) continue;
    const id = String(entry._id);
    const known = oldest.get(name);
    if (known === undefined || id < known) oldest.set(name, id);
  }
  return [...oldest];
}

const keyOf = ({ _id, idempotencyKey }: FailedEntry) => idempotencyKey ?? `${CONSOLE}${_id}`;

/** An idempotency key belongs to a client and an operation; one of the console names the push itself. */
const isSamePush = (later: MendingEntry, failed: FailedEntry) =>
  later.operation === failed.operation &&
  (later.clientId === failed.clientId || keyOf(failed).startsWith(CONSOLE));

function firstAfter(
  { _id }: FailedEntry,
  candidates: readonly MendingEntry[],
): MendingEntry | undefined {
  const id = String(_id);
  let first: MendingEntry | undefined;
  for (const candidate of candidates) {
    const at = String(candidate._id);
    if (at > id && (!first || at < String(first._id))) first = candidate;
  }
  return first;
}

type Work<I, O> = (some: readonly I[]) => Promise<readonly O[]>;

async function inSteps<I, O>(items: readonly I[], size: number, work: Work<I, O>): Promise<O[]> {
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
