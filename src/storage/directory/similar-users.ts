/** Users whose login differs from a name only in case or surrounding blanks. */
import type { Connection } from 'mongoose';
import { inBatches } from '../../concurrency/in-batches';
import { nativeCollection } from '../mongo';
import { FOLDED_INDEX, foldUsername, userModel } from './user-model';

/** Names that are looked up: each is a problem that somebody has to read. */
const MAX_NAMES = 1_000;
/** Users of one write of `fillFoldedUsernames`. */
const BATCH = 1_000;

/**
 * A suggestion is not worth a failed push or a scan of all users: without the index, or without the database, there
 * are no suggestions.
 *
 * @returns by name, the login of an enabled user that was probably meant
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

/** Users that an earlier version imported lack the field by which `findSimilarUsers` finds them. */
export async function fillFoldedUsernames(connection: Connection): Promise<void> {
  const users = nativeCollection(userModel(connection));
  const unfilled = users.find({ folded: { $exists: false } }, { projection: { _id: 1 } });
  // Not by an expression of MongoDB: its $toLower knows ASCII only.
  for await (const batch of inBatches(unfilled, BATCH)) {
    await users.bulkWrite(
      batch.map(({ _id }) => ({
        updateOne: { filter: { _id }, update: { $set: { folded: foldUsername(_id) } } },
      })),
      { ordered: false },
    );
  }
}
