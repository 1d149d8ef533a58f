/**
 * Erases personal data that the ledger and the push log keep. The parties of matters stay: they are data of the source
 * systems, which remove them with a push.
 */
import { type Connection, type mongo, Types } from 'mongoose';
import { inBatches } from '../concurrency/batcher';
import { type PartyRole, partyKey } from '../domain/matter';
import { nativeCollection } from '../infra/mongo';
import { type MatterRecord, matterModel } from './ledger/matters';
import {
  bodyModel,
  entryModel,
  type LogEntry,
  type LoggedBody,
  storedBytes,
} from './push-log/entry';

/** Numbers of documents. */
export interface Erased {
  /** Matters that had the user as a past handler. */
  readonly matters: number;
  /** Log entries whose changes named the user. */
  readonly entries: number;
  /** Stored bodies. */
  readonly bodies: number;
}

export interface ErasureOptions {
  /** True: counts only. */
  readonly dryRun: boolean;
  /** Called with the number of bodies that were searched. */
  readonly onProgress?: (bodies: number) => void;
}

/** Bodies that one command of the database deletes. */
const BATCH = 500;
/** The lists of names in a logged change. */
const LISTS = ['added', 'removed', 'unread'] as const;
const ROLES = ['ASSIGNEE', 'CC', 'RECIPIENT'] as const satisfies readonly PartyRole[];

/**
 * Erases what is kept of a user besides the parties: past handlers, logged changes, and stored bodies that contain the
 * username as a word. It reads the whole log and all stored bodies.
 */
export async function eraseUser(
  connection: Connection,
  username: string,
  { dryRun, onProgress = () => undefined }: ErasureOptions,
): Promise<Erased> {
  const matters = await erasePastHandler(connection, username, dryRun);
  const entries = await eraseChanges(connection, username, dryRun);
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  let bodies = 0;
  for await (const ids of inBatches(findBodies(collection, username, onProgress), BATCH)) {
    bodies += dryRun ? ids.length : await deleteAll(collection, ids);
  }
  return { matters, entries, bodies };
}

/** Deletes the stored body of one request. @returns the number of bodies: 0 or 1 */
export async function eraseBody(
  connection: Connection,
  requestId: string,
  { dryRun }: ErasureOptions,
): Promise<number> {
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  const _id = new Types.ObjectId(requestId);
  return dryRun ? collection.countDocuments({ _id }) : deleteAll(collection, [_id]);
}

/** Raises the revision like every other writer of the ledger, so that a concurrent push reads the matter again. */
async function erasePastHandler(
  connection: Connection,
  username: string,
  dryRun: boolean,
): Promise<number> {
  const collection = nativeCollection<MatterRecord>(matterModel(connection));
  const filter = { pastHandlers: username };
  if (dryRun) return collection.countDocuments(filter);
  const update = {
    $pull: { pastHandlers: username },
    $inc: { revision: 1 },
    $set: { updatedAt: new Date() },
  };
  return (await collection.updateMany(filter, update as mongo.UpdateFilter<MatterRecord>))
    .modifiedCount;
}

async function eraseChanges(
  connection: Connection,
  username: string,
  dryRun: boolean,
): Promise<number> {
  const collection = nativeCollection<LogEntry>(entryModel(connection));
  const named = { $in: ROLES.map((partyRole) => partyKey({ partyRole, username })) };
  const filter = { $or: LISTS.map((list) => ({ [`changes.${list}`]: named })) };
  if (dryRun) return collection.countDocuments(filter);
  const lists = LISTS.map((list) => [`changes.$[].${list}`, named]);
  return (await collection.updateMany(filter, { $pull: Object.fromEntries(lists) })).modifiedCount;
}

async function* findBodies(
  collection: mongo.Collection<LoggedBody>,
  username: string,
  onProgress: (bodies: number) => void,
): AsyncGenerator<Types.ObjectId> {
  const names = namesIn(username);
  let searched = 0;
  const cursor = collection.find().project<Pick<LoggedBody, '_id' | 'body'>>({ body: 1 });
  for await (const { _id, body } of cursor) {
    if (names(storedBytes(body).toString('utf8'))) yield _id;
    searched += 1;
    onProgress(searched);
  }
}

/**
 * @returns whether a body contains the username as a word in any of its texts. A body that is no JSON is searched as it
 *   is
 */
function namesIn(username: string): (body: string) => boolean {
  const literal = username.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const word = new RegExp(
    `(?<![\\p{L}\\p{N}._@-])${literal}(?![\\p{L}\\p{N}_@-]|\\.[\\p{L}\\p{N}])`,
    'u',
  );
  return (body) => {
    if (word.test(body)) return true;
    // Only an escape can hide the name.
    if (!body.includes('\\')) return false;
    let found = false;
    try {
      JSON.parse(body, (_, value) => {
        found ||= typeof value === 'string' && word.test(value);
        return value;
      });
    } catch {
      // It is no JSON, and was searched as it is.
    }
    return found;
  };
}

async function deleteAll(
  collection: mongo.Collection<LoggedBody>,
  ids: readonly Types.ObjectId[],
): Promise<number> {
  return (await collection.deleteMany({ _id: { $in: [...ids] } })).deletedCount;
}
