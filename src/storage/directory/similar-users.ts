/** Users whose login differs from a name only in case or surrounding blanks. */
import type { Connection } from 'mongoose';
import { nativeCollection } from '../mongo';
import { foldUsername, userModel } from './user-model';

/** Names that are looked up: each is a problem that somebody has to read. */
const MAX_NAMES = 1_000;

/** @returns by name, the login of an enabled user that was probably meant */
export async function findSimilarUsers(
  connection: Connection,
  usernames: readonly string[],
): Promise<Map<string, string>> {
  const names = usernames.slice(0, MAX_NAMES);
  const wanted = { folded: { $in: [...new Set(names.map(foldUsername))] }, enabled: true };
  const found = await userModel(connection).find(wanted, { folded: 1 }).sort({ _id: -1 }).lean();
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
  const folded = { $toLower: { $trim: { input: '$_id' } } };
  await nativeCollection(userModel(connection)).updateMany({ folded: { $exists: false } }, [
    { $set: { folded } },
  ]);
}
