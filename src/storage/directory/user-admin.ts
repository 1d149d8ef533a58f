/** What operators do with portal users. */
import type { Connection } from 'mongoose';
import { DirectoryError } from './directory-error';
import { findSimilarUsers } from './similar-users';
import { foldUsername, type UserRecord, userModel } from './user-model';

export interface NewUser {
  readonly username: string;
  readonly displayName: string;
}

/** What an import would do. */
export interface ImportPlan {
  readonly created: number;
  /** There already: they are renamed where the name is another one. */
  readonly updated: number;
  /** Of those: disabled now, and enabled by the import. */
  readonly enabledAgain: number;
  /** All users that are enabled now. */
  readonly enabled: number;
  /** Enabled users that the file does not name, by username. */
  readonly missing: readonly string[];
}

export async function planImport(
  connection: Connection,
  users: readonly NewUser[],
): Promise<ImportPlan> {
  const names = new Set(users.map(({ username }) => username));
  const known = await userModel(connection).find({}, { enabled: 1 }).sort({ _id: 1 }).lean();
  const [inFile, others] = [
    known.filter(({ _id }) => names.has(_id)),
    known.filter(({ _id }) => !names.has(_id)),
  ];
  return {
    created: names.size - inFile.length,
    updated: inFile.length,
    enabledAgain: inFile.filter(({ enabled }) => !enabled).length,
    enabled: known.filter(({ enabled }) => enabled).length,
    missing: others.filter(({ enabled }) => enabled).map(({ _id }) => _id),
  };
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
        update: { $set: { displayName, enabled: true, folded: foldUsername(username) } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
  return { created: result.upsertedCount, updated: result.matchedCount };
}

/** Names of one command: a longer one could be larger than MongoDB takes. */
const AT_ONCE = 10_000;

/**
 * A disabled user cannot be named in a push; matters that name it stay as they are.
 *
 * @returns how many were changed
 * @throws DirectoryError naming those that do not exist: nothing was changed then
 */
export async function setUsersEnabled(
  connection: Connection,
  usernames: readonly string[],
  enabled: boolean,
): Promise<number> {
  const model = userModel(connection);
  const unknown = new Set(usernames);
  for (const some of inParts(usernames)) {
    for (const { _id } of await model.find({ _id: { $in: some } }, { _id: 1 }).lean()) {
      unknown.delete(_id);
    }
  }
  if (unknown.size > 0) throw await unknownUsers(connection, [...unknown]);
  let changed = 0;
  for (const some of inParts(usernames)) {
    const { modifiedCount } = await model.updateMany({ _id: { $in: some } }, { $set: { enabled } });
    changed += modifiedCount;
  }
  return changed;
}

function* inParts(usernames: readonly string[]): Generator<string[]> {
  for (let at = 0; at < usernames.length; at += AT_ONCE) yield usernames.slice(at, at + AT_ONCE);
}

async function unknownUsers(
  connection: Connection,
  usernames: readonly string[],
): Promise<DirectoryError> {
  const similar = await findSimilarUsers(connection, usernames);
  const told = usernames.map((name) => {
    const meant = similar.get(name);
    return meant === undefined ? name : `${name} (did you mean ${meant}?)`;
  });
  return new DirectoryError(`nothing was changed: there is no user ${told.join(', ')}`);
}

/** All users, by name. */
export function listUsers(connection: Connection): Promise<UserRecord[]> {
  return userModel(connection).find({}, { folded: 0 }).sort({ _id: 1 }).lean<UserRecord[]>().exec();
}
