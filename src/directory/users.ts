/** The portal's users: checked when a push comes in, resolved to names when it is applied. */
import type { Connection } from 'mongoose';
import { createBatcher } from '../batcher';
import type { Clock } from '../clock';
import { type UserRecord, userModel } from './user-model';

/** How long an ingress believes that a user is enabled, in milliseconds. */
const BELIEVED_FOR = 5_000;
const MAX_BELIEVED = 100_000;

export interface UserDirectory {
  /** Of `usernames`, those that no enabled portal user has, in their order, each once. */
  unknown(usernames: readonly string[]): Promise<string[]>;
  /** Display names by username; users that do not exist are left out. */
  names(usernames: readonly string[]): Promise<Map<string, string>>;
}

/**
 * Known users are believed for a few seconds; unknown ones are always looked up, so that a user
 * who was just imported can be named at once.
 */
export function createUserDirectory(connection: Connection, clock: Clock): UserDirectory {
  const model = userModel(connection);
  const believed = new Map<string, number>();
  const read = (usernames: readonly string[]): Promise<UserRecord[]> =>
    model.find({ _id: { $in: [...new Set(usernames)] } }).lean();

  const enabled = createBatcher<readonly string[], ReadonlySet<string>>({
    run: async (lists) => {
      const records = await read(lists.flat());
      const names = new Set(records.filter((user) => user.enabled).map((user) => user._id));
      return lists.map(() => names);
    },
    maxBatch: 200,
    maxRunning: 2,
  });

  return {
    unknown: async (usernames) => {
      const now = clock();
      const open = [...new Set(usernames)].filter((name) => (believed.get(name) ?? 0) <= now);
      if (open.length === 0) return [];
      const found = await enabled.add(open);
      if (believed.size > MAX_BELIEVED) believed.clear();
      for (const name of open) if (found.has(name)) believed.set(name, now + BELIEVED_FOR);
      return open.filter((name) => !found.has(name));
    },
    names: async (usernames) => {
      if (usernames.length === 0) return new Map();
      const records = await read(usernames);
      return new Map(records.map((user) => [user._id, user.displayName]));
    },
  };
}
