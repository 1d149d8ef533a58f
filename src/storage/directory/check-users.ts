/** Whether the portal has users of given names, read anew: an answer for people, not for a push. */
import type { Connection } from 'mongoose';
import { userModel } from './user-model';

/** @returns by username whether it is enabled; those that nobody has are left out */
export type CheckUsers = (usernames: readonly string[]) => Promise<ReadonlyMap<string, boolean>>;

export function createCheckUsers(connection: Connection): CheckUsers {
  const model = userModel(connection);
  return async (usernames) => {
    const found = await model.find({ _id: { $in: [...usernames] } }, { enabled: 1 }).lean();
    return new Map(found.map(({ _id, enabled }) => [_id, enabled]));
  };
}
