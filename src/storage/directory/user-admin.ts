/** Changes of portal users by operators. */
import type { Connection } from 'mongoose';
import { DirectoryError } from './client-model';
import { findSimilarUsers, foldUsername, type UserRecord, userModel } from './user-model';

export interface NewUser {
  readonly username: string;
  readonly displayName: string;
}

/** The expected effects of the import of a user file. */
export interface ImportPlan {
  readonly created: number;
  /** Number of existing users in the file. */
  readonly updated: number;
  /** Number of disabled users that the import enables. */
  readonly enabledAgain: number;
  /** Number of enabled users before the import. */
  readonly enabled: number;
  /** Enabled users that the file does not contain, sorted by username. */
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

/** Creates, updates and enables users. */
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

/** Maximum usernames of one command. MongoDB limits the size of a command. */
const NAMES_PER_COMMAND = 10_000;

/**
 * @returns the number of changed users
 * @throws DirectoryError if a user does not exist
 */
export async function setUsersEnabled(
  connection: Connection,
  usernames: readonly string[],
  enabled: boolean,
): Promise<number> {
  const model = userModel(connection);
  const unknown = new Set(usernames);
  for (const chunk of inChunks(usernames)) {
    for (const { _id } of await model.find({ _id: { $in: chunk } }, { _id: 1 }).lean()) {
      unknown.delete(_id);
    }
  }
  if (unknown.size > 0) throw await unknownUsers(connection, [...unknown]);
  let changed = 0;
  for (const chunk of inChunks(usernames)) {
    const { modifiedCount } = await model.updateMany(
      { _id: { $in: chunk } },
      { $set: { enabled } },
    );
    changed += modifiedCount;
  }
  return changed;
}

function* inChunks(usernames: readonly string[]): Generator<string[]> {
  for (let at = 0; at < usernames.length; at += NAMES_PER_COMMAND)
    yield usernames.slice(at, at + NAMES_PER_COMMAND);
}

async function unknownUsers(
  connection: Connection,
  usernames: readonly string[],
): Promise<DirectoryError> {
  const similar = await findSimilarUsers(connection, usernames);
  const names = usernames.map((name) => {
    const meant = similar.get(name);
    return meant === undefined ? name : `${name} (did you mean ${meant}?)`;
  });
  return new DirectoryError(`nothing was changed: there is no user ${names.join(', ')}`);
}

/** Sorted by username. */
export function listUsers(connection: Connection): Promise<UserRecord[]> {
  return userModel(connection).find({}, { folded: 0 }).sort({ _id: 1 }).lean<UserRecord[]>().exec();
}
