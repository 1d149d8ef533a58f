/** Erases personal data from the ledger and the push log. Does not erase the parties of matters. */
import { type Connection, type mongo, Types } from 'mongoose';
import { inBatches } from '../concurrency/batcher';
import { createMentions, type Mentions } from '../domain/mentions';
import { nativeCollection } from '../infra/mongo';
import { type MatterRecord, matterModel, PAST_HANDLERS_INDEX } from './ledger/matters';
import {
  bodyModel,
  entryModel,
  type LogEntry,
  type LoggedBody,
  storedBytes,
} from './push-log/entry';
import { eraseNames } from './push-log/erase-names';

/** Numbers of changed or deleted documents. A dry run counts the documents that a real run would change or delete. */
export interface Erased {
  /** Matters that had the user as a past handler. */
  readonly matters: number;
  /** Log entries whose changes, problems or warnings named the user. */
  readonly entries: number;
  /** Stored bodies that contained the username. */
  readonly bodies: number;
}

export interface ErasureOptions {
  /** True: only counts the documents to erase. */
  readonly dryRun: boolean;
  /** Called at the start and after each batch. `searched` is the number of documents that were read so far. */
  readonly onProgress?: (erased: Erased, searched: number) => void;
}

/** Maximum matters or log entries per command. */
const BATCH = 1_000;
/** Maximum bodies per command. One body can have megabytes. */
const BODY_BATCH = 100;
/** Long reads do not use these options, because `maxTimeMS` limits the total time of a cursor. */
const OPTIONS = { maxTimeMS: 10_000 };

/**
 * Erases the user from past handlers and log entries. Deletes bodies that contain the username as a word. Documents
 * that are written after the start of the erasure can still contain the username.
 */
export async function eraseUser(
  connection: Connection,
  username: string,
  { dryRun, onProgress = () => undefined }: ErasureOptions,
): Promise<Erased> {
  const mentions = createMentions(username);
  const matters = nativeCollection<MatterRecord>(matterModel(connection));
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const bodies = nativeCollection<LoggedBody>(bodyModel(connection));
  let searched = 0;
  let erased: Erased = { matters: 0, entries: 0, bodies: 0 };
  const add = (read: number, found: Partial<Erased>) => {
    searched += read;
    const { matters = 0, entries = 0, bodies = 0 } = found;
    erased = {
      matters: erased.matters + matters,
      entries: erased.entries + entries,
      bodies: erased.bodies + bodies,
    };
    onProgress(erased, searched);
  };
  add(0, {});
  for await (const ids of inBatches(findPastHandler(matters, username), BATCH)) {
    const found = dryRun ? ids.length : await erasePastHandler(matters, username, ids);
    add(ids.length, { matters: found });
  }
  for await (const { range, size } of idRanges(entries, BATCH)) {
    add(size, { entries: await eraseNames(entries, range, { username, mentions, dryRun }) });
  }
  for await (const { range, size } of idRanges(bodies, BODY_BATCH)) {
    const ids = await findBodies(bodies, range, mentions);
    add(size, { bodies: dryRun ? ids.length : await deleteAll(bodies, ids) });
  }
  return erased;
}

/** @returns the number of bodies: 0 or 1 */
export async function eraseBody(
  connection: Connection,
  requestId: string,
  { dryRun }: ErasureOptions,
): Promise<number> {
  const collection = nativeCollection<LoggedBody>(bodyModel(connection));
  const _id = new Types.ObjectId(requestId);
  return dryRun ? collection.countDocuments({ _id }, OPTIONS) : deleteAll(collection, [_id]);
}

interface IdRange {
  readonly _id: { readonly $gt?: Types.ObjectId; readonly $lte: Types.ObjectId };
}

async function* idRanges<T extends { _id: Types.ObjectId }>(
  collection: mongo.Collection<T>,
  max: number,
): AsyncGenerator<{ readonly range: IdRange; readonly size: number }> {
  const idsOf = async (filter: object, order: 1 | -1, limit: number) => {
    const found = await collection
      .find(filter, { ...OPTIONS, hint: '_id_' })
      .project<{ _id: Types.ObjectId }>({ _id: 1 })
      .sort({ _id: order })
      .limit(limit)
      .toArray();
    return found.map(({ _id }) => _id);
  };
  const [newest] = await idsOf({}, -1, 1);
  for (let after: { $gt?: Types.ObjectId } = {}; newest; ) {
    const ids = await idsOf({ _id: { ...after, $lte: newest } }, 1, max);
    const last = ids.at(-1);
    if (!last) return;
    yield { range: { _id: { ...after, $lte: last } }, size: ids.length };
    after = { $gt: last };
  }
}

async function* findPastHandler(
  collection: mongo.Collection<MatterRecord>,
  username: string,
): AsyncGenerator<bigint> {
  const cursor = collection
    .find({ pastHandlers: username }, { hint: PAST_HANDLERS_INDEX, batchSize: BATCH })
    .project<Pick<MatterRecord, '_id'>>({ _id: 1 });
  for await (const { _id } of cursor) yield _id;
}

/** Increments `revision`, so that no worker overwrites this update. */
async function erasePastHandler(
  collection: mongo.Collection<MatterRecord>,
  username: string,
  ids: readonly bigint[],
): Promise<number> {
  const filter = { _id: { $in: [...ids] }, pastHandlers: username };
  const update = {
    $pull: { pastHandlers: username },
    $inc: { revision: 1 },
    $set: { updatedAt: new Date() },
  } as mongo.UpdateFilter<MatterRecord>;
  return (await collection.updateMany(filter, update, OPTIONS)).modifiedCount;
}

async function findBodies(
  collection: mongo.Collection<LoggedBody>,
  range: IdRange,
  mentions: Mentions,
): Promise<Types.ObjectId[]> {
  const found: Types.ObjectId[] = [];
  const cursor = collection
    .find(range, { hint: '_id_' })
    .project<Pick<LoggedBody, '_id' | 'body'>>({ body: 1 });
  for await (const { _id, body } of cursor) {
    if (mentions.isIn(storedBytes(body).toString('utf8'))) found.push(_id);
  }
  return found;
}

async function deleteAll(
  collection: mongo.Collection<LoggedBody>,
  ids: readonly Types.ObjectId[],
): Promise<number> {
  if (ids.length === 0) return 0;
  return (await collection.deleteMany({ _id: { $in: [...ids] } }, OPTIONS)).deletedCount;
}
