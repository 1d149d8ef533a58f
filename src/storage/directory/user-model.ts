/** Defines the document of a portal user, and reads users without a cache. */
import { type Connection, type Model, Schema } from 'mongoose';

export interface UserRecord {
  /** The username in the portal. */
  _id: string;
  displayName: string;
  enabled: boolean;
  /** The result of `foldUsername` for `_id`. */
  folded?: string;
}

export const foldUsername = (username: string): string => username.trim().toLowerCase();

export const FOLDED_INDEX = 'folded';

const userSchema = new Schema<UserRecord>(
  {
    _id: { type: String, required: true },
    displayName: { type: String, required: true },
    enabled: { type: Boolean, default: true },
    folded: String,
  },
  { collection: 'users', versionKey: false },
);
userSchema.index({ folded: 1 }, { name: FOLDED_INDEX });

export function userModel(connection: Connection): Model<UserRecord> {
  return connection.models.User ?? connection.model<UserRecord>('User', userSchema);
}

/** Maximum usernames per call of `findSimilarUsers`. Further usernames get no suggestion. */
const MAX_NAMES = 1_000;

/**
 * Finds enabled users whose usernames differ from `usernames` only in case or surrounding blanks.
 *
 * @returns the found username, by element of `usernames`
 */
export async function findSimilarUsers(
  connection: Connection,
  usernames: readonly string[],
): Promise<Map<string, string>> {
  const names = usernames.slice(0, MAX_NAMES);
  const wanted = { folded: { $in: [...new Set(names.map(foldUsername))] }, enabled: true };
  const found = await userModel(connection)
    .find(wanted, { folded: 1 })
    .sort({ _id: -1 })
    .hint(FOLDED_INDEX)
    .lean()
    .catch(() => []);
  const byFolded = new Map(found.map(({ _id, folded }) => [folded, _id]));
  return new Map(
    names.flatMap((name): [string, string][] => {
      const meant = byFolded.get(foldUsername(name));
      return meant === undefined || meant === name ? [] : [[name, meant]];
    }),
  );
}

/** @returns `enabled` by username, without unknown usernames */
export type CheckUsers = (usernames: readonly string[]) => Promise<ReadonlyMap<string, boolean>>;

export function createCheckUsers(connection: Connection): CheckUsers {
  const model = userModel(connection);
  return async (usernames) => {
    const found = await model.find({ _id: { $in: [...usernames] } }, { enabled: 1 }).lean();
    return new Map(found.map(({ _id, enabled }) => [_id, enabled]));
  };
}
