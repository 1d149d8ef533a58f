/** What operators do with portal users. */
import type { Connection } from 'mongoose';
import { type UserRecord, userModel } from './user-model';

export interface NewUser {
  readonly username: string;
  readonly displayName: string;
}

/**
 * Creates or renames users, and enables them.
 *
 * @returns how many were new, and how many were there already
 */
export async function importUsers(
  connection: Connection,
  users: readonly NewUser[],
): Promise<{ created: number; updated: number }> {
  if (users.length === 0) return { created: 0, updated: 0 };
  const result = await userModel(connection).bulkWrite(
    users.map(({ username, displayName }) => ({
      updateOne: {
        filter: { _id: username },
        update: { $set: { displayName, enabled: true } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
  return { created: result.upsertedCount, updated: result.matchedCount };
}

/** All users, by name. */
export function listUsers(connection: Connection): Promise<UserRecord[]> {
  return userModel(connection).find().sort({ _id: 1 }).lean<UserRecord[]>().exec();
}
