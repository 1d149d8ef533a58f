/** Erases a username from the changes, problems and warnings of push-log entries. */
import type { mongo, Types } from 'mongoose';
import { type PartyRole, partyKey } from '../../domain/matter';
import { literalPattern, type Mentions } from '../../domain/mentions';
import type { Problem } from '../../protocol/errors';
import type { LogEntry } from './entry';

export interface NameErasure {
  readonly username: string;
  readonly mentions: Mentions;
  readonly dryRun: boolean;
}

/** Fields of a log entry with texts that can contain usernames. */
const TEXT_LISTS = ['problems', 'warnings'] as const;
type TextList = (typeof TEXT_LISTS)[number];
const NAME_LISTS = ['added', 'removed', 'unread'] as const;
const ROLES = ['ASSIGNEE', 'CC', 'RECIPIENT'] as const satisfies readonly PartyRole[];
const ERASED_NAME = '***';
/** Matches field names such as `parties[0].username` and `initiatorUsername`. */
const USERNAME = /username$/i;
const OPTIONS = { maxTimeMS: 10_000 };

type Entries = mongo.Collection<LogEntry>;
type NamingEntry = Pick<LogEntry, '_id' | 'changes' | TextList>;

/**
 * @param filter must restrict `_id`
 * @returns the number of entries that contain the username
 */
export async function eraseNames(
  collection: Entries,
  filter: mongo.Filter<LogEntry>,
  { username, mentions, dryRun }: NameErasure,
): Promise<number> {
  const keys = ROLES.map((partyRole) => partyKey({ partyRole, username }));
  const letters = { $regex: literalPattern(username) };
  const $or = [
    ...NAME_LISTS.map((list) => ({ [`changes.${list}`]: { $in: keys } })),
    ...TEXT_LISTS.map((list) => ({ [`${list}.message`]: letters })),
  ];
  const found = await collection
    .find({ ...filter, $or }, { ...OPTIONS, hint: '_id_' })
    .project<NamingEntry>({ changes: 1, problems: 1, warnings: 1 })
    .toArray();
  const changed = found.filter((entry) => hasChangeOf(entry, keys)).map(({ _id }) => _id);
  if (!dryRun && changed.length > 0) await eraseFromChanges(collection, changed, keys);
  const naming = [...changed];
  for (const list of TEXT_LISTS) {
    const { ids, texts } = findTexts(found, list, mentions);
    if (!dryRun) await replaceTexts(collection, ids, { list, texts });
    naming.push(...ids);
  }
  return new Set(naming.map(String)).size;
}

const hasChangeOf = ({ changes = [] }: NamingEntry, keys: readonly string[]) =>
  changes.some((change) =>
    NAME_LISTS.some((list) => change[list]?.some((name) => keys.includes(name))),
  );

async function eraseFromChanges(
  collection: Entries,
  ids: Types.ObjectId[],
  keys: readonly string[],
): Promise<void> {
  const lists = NAME_LISTS.map((list) => [`changes.$[].${list}`, { $in: keys }]);
  await collection.updateMany({ _id: { $in: ids } }, { $pull: Object.fromEntries(lists) }, OPTIONS);
}

type Texts = Pick<Problem, 'message' | 'english'>;

function findTexts(entries: readonly NamingEntry[], list: TextList, { replaceIn }: Mentions) {
  // In each text, usernames follow the first colon.
  const erase = (text: string) => text.replace(/: .*$/su, (names) => replaceIn(names, ERASED_NAME));
  const texts = new Map<string, Texts>();
  const ids: Types.ObjectId[] = [];
  for (const entry of entries) {
    const naming = (entry[list] ?? []).filter(
      ({ field, message }) => USERNAME.test(field) && erase(message) !== message,
    );
    if (naming.length > 0) ids.push(entry._id);
    for (const { message, english } of naming) {
      const erased = english === undefined ? {} : { english: erase(english) };
      texts.set(message, { message: erase(message), ...erased });
    }
  }
  return { ids, texts };
}

/** Does not replace the whole list, because a worker can add a warning at the same time. */
async function replaceTexts(
  collection: Entries,
  ids: Types.ObjectId[],
  { list, texts }: { readonly list: TextList; readonly texts: ReadonlyMap<string, Texts> },
): Promise<void> {
  for (const [message, erased] of texts) {
    const fields = Object.entries(erased).map(([name, text]) => [`${list}.$[it].${name}`, text]);
    await collection.updateMany(
      { _id: { $in: ids }, [`${list}.message`]: message },
      { $set: Object.fromEntries(fields) },
      { ...OPTIONS, arrayFilters: [{ 'it.message': message }] },
    );
  }
}
