/** Caches the portal users. */

import type { Connection } from 'mongoose';
import { type Batcher, createBatcher } from '../../concurrency/batcher';
import type { Clock } from '../../concurrency/timing';
import type { Tracing } from '../../observability/tracing';
import { findSimilarUsers, type UserRecord, userModel } from './user-model';

/** Milliseconds for which a process caches a user. */
const CACHE_TTL = 5_000;
const MAX_CACHED = 100_000;
/** Maximum usernames of one query. MongoDB limits the size of a query. */
const MAX_NAMES = 5_000;

export interface UserDirectory {
  /** Returns the usernames without an enabled portal user. */
  unknown(usernames: readonly string[]): Promise<string[]>;
  /** See `findSimilarUsers`. */
  similar(usernames: readonly string[]): Promise<Map<string, string>>;
  /** Display names by username. */
  names(usernames: readonly string[]): Promise<Map<string, string>>;
}

/** The method `unknown` uses the cache only for enabled users. */
export function createUserDirectory(
  connection: Connection,
  clock: Clock,
  tracing?: Tracing,
): UserDirectory {
  const cached = new Map<string, { readonly user: UserRecord; readonly until: number }>();
  const reads = createReads(connection, tracing);
  const find = async (
    usernames: readonly string[],
    isEnough: (user: UserRecord) => boolean,
  ): Promise<UserRecord[]> => {
    const now = clock();
    const found: UserRecord[] = [];
    const missing: string[] = [];
    for (const name of new Set(usernames)) {
      const entry = cached.get(name);
      if (entry && entry.until > now && isEnough(entry.user)) found.push(entry.user);
      else missing.push(name);
    }
    if (missing.length === 0) return found;
    const byName = await reads.add(missing);
    const read = missing.flatMap((name) => byName.get(name) ?? []);
    if (cached.size > MAX_CACHED) cached.clear();
    for (const user of read) cached.set(user._id, { user, until: now + CACHE_TTL });
    return [...found, ...read.filter(isEnough)];
  };
  return {
    unknown: async (usernames) => {
      const found = await find(usernames, ({ enabled }) => enabled);
      const names = new Set(found.map(({ _id }) => _id));
      return [...new Set(usernames)].filter((name) => !names.has(name));
    },
    similar: (usernames) => findSimilarUsers(connection, usernames),
    names: async (usernames) => {
      const found = await find(usernames, () => true);
      return new Map(found.map(({ _id, displayName }) => [_id, displayName]));
    },
  };
}

/** Concurrent lookups share one query. */
function createReads(
  connection: Connection,
  tracing: Tracing | undefined,
): Batcher<readonly string[], ReadonlyMap<string, UserRecord>> {
  const model = userModel(connection);
  return createBatcher({
    run: async (lists) => {
      const records = await model.find({ _id: { $in: [...new Set(lists.flat())] } }).lean();
      const byName = new Map(records.map((user) => [user._id, user]));
      return lists.map(() => byName);
    },
    maxBatch: 200,
    weight: { of: (names) => names.length, max: MAX_NAMES },
    maxRunning: 2,
    tracing,
    name: 'users',
  });
}
