/** The portal's users: checked when a push comes in, resolved to names when it is applied. */
import type { Connection } from 'mongoose';
import { type Batcher, createBatcher } from '../../concurrency/batcher';
import type { Clock } from '../../concurrency/clock';
import type { Tracing } from '../../telemetry/tracing';
import { findSimilarUsers } from './similar-users';
import { type UserRecord, userModel } from './user-model';

/** Milliseconds for which a process caches a user that it read. */
const CACHE_TTL = 5_000;
const MAX_CACHED = 100_000;
/** Names of one query: the lists of large batches, joined, could be longer than a query may be. */
const MOST_NAMES = 5_000;

export interface UserDirectory {
  /** Of `usernames`, those that no enabled portal user has, in their order, each once. */
  unknown(usernames: readonly string[]): Promise<string[]>;
  /** Of names that no enabled user has: the login that differs only in case or surrounding blanks. */
  similar(usernames: readonly string[]): Promise<Map<string, string>>;
  /** Display names by username; users that do not exist are left out. */
  names(usernames: readonly string[]): Promise<Map<string, string>>;
}

/**
 * Known users are cached for a few seconds; unknown and disabled ones are always looked up, so that
 * a user who was just imported can be named at once.
 */
export function createUserDirectory(
  connection: Connection,
  clock: Clock,
  tracing?: Tracing,
): UserDirectory {
  const users = new CachedUsers(readUsers(connection, tracing), clock);
  return {
    unknown: async (usernames) => {
      const found = await users.find(usernames, ({ enabled }) => enabled);
      const names = new Set(found.map(({ _id }) => _id));
      return [...new Set(usernames)].filter((name) => !names.has(name));
    },
    similar: (usernames) => findSimilarUsers(connection, usernames),
    names: async (usernames) => {
      const found = await users.find(usernames, () => true);
      return new Map(found.map(({ _id, displayName }) => [_id, displayName]));
    },
  };
}

type UsersByName = ReadonlyMap<string, UserRecord>;

/** Lists of names that are asked for at the same time are read together. */
function readUsers(
  connection: Connection,
  tracing: Tracing | undefined,
): Batcher<readonly string[], UsersByName> {
  const model = userModel(connection);
  return createBatcher({
    run: async (lists) => {
      const records = await model.find({ _id: { $in: [...new Set(lists.flat())] } }).lean();
      const byName = new Map(records.map((user) => [user._id, user]));
      return lists.map(() => byName);
    },
    maxBatch: 200,
    weight: { of: (names) => names.length, most: MOST_NAMES },
    maxRunning: 2,
    tracing,
    name: 'users',
  });
}

class CachedUsers {
  private readonly cached = new Map<
    string,
    { readonly user: UserRecord; readonly until: number }
  >();

  constructor(
    private readonly reads: Batcher<readonly string[], UsersByName>,
    private readonly clock: Clock,
  ) {}

  /** The users that satisfy `isEnough`; the database is asked for users that the cache does not have so. */
  async find(
    usernames: readonly string[],
    isEnough: (user: UserRecord) => boolean,
  ): Promise<UserRecord[]> {
    const now = this.clock();
    const known: UserRecord[] = [];
    const open: string[] = [];
    for (const name of new Set(usernames)) {
      const entry = this.cached.get(name);
      if (entry && entry.until > now && isEnough(entry.user)) known.push(entry.user);
      else open.push(name);
    }
    if (open.length === 0) return known;
    const found = await this.reads.add(open);
    const read = open.flatMap((name) => found.get(name) ?? []);
    this.keep(read, now + CACHE_TTL);
    return [...known, ...read.filter(isEnough)];
  }

  private keep(users: readonly UserRecord[], until: number): void {
    if (this.cached.size > MAX_CACHED) this.cached.clear();
    for (const user of users) this.cached.set(user._id, { user, until });
  }
}
