/**
 * Erases personal data from the ledger and the push log. The parties of a matter stay: the source system removes
 * parties with a push. Each database command reads few documents, so that it ends before the socket timeout.
 */
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

/** Numbers of documents that were changed or deleted. With `dryRun`: that would be changed or deleted. */
export interface Erased {
  /** Matters that had the user as a past handler. */
  readonly matters: number;
  /** Log entries whose changes, problems or warnings named the user. */
  readonly entries: number;
  /** Stored bodies that contained the username. */
  readonly bodies: number;
}

export interface ErasureOptions {
  /** True: counts the documents to erase, and erases nothing. */
  readonly dryRun: boolean;
  /**
   * Called at the start and after each batch, with the numbers of erased documents and of searched documents so far.
   */
  readonly onProgress?: (erased: Erased, searched: number) => void;
}

/** Maximum matters or log entries that one command reads or changes. */
const BATCH = 1_000;
/** Maximum bodies that one command deletes: few, because a body can have megabytes. */
const BODY_BATCH = 100;
/**
 * Options of commands that read or change at most BATCH documents. A long read with a cursor must not have these
 * options, because the time limit would apply to the whole read.
 */
const OPTIONS = { maxTimeMS: 10_000 };

/**
 * Erases three kinds of personal data of a user: past handlers, names in log entries, and stored bodies. A body is
 * deleted if it contains the username as a word (`mentions.ts`). Documents that are created during the call can remain.
 * After an error, erased data stays erased, and another call erases the remaining documents.
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

/** Deletes the stored body of one request. @returns the number of bodies: 0 or 1 */
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

/** Divides the documents that exist now into ranges of at most `max` documents, in the order of their ids. */
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

/** Finds the matters that have the user as a past handler. */
async function* findPastHandler(
  collection: mongo.Collection<MatterRecord>,
  username: string,
): AsyncGenerator<bigint> {
  const cursor = collection
    .find({ pastHandlers: username }, { hint: PAST_HANDLERS_INDEX, batchSize: BATCH })
    .project<Pick<MatterRecord, '_id'>>({ _id: 1 });
  for await (const { _id } of cursor) yield _id;
}

/**
 * Removes the user from the past handlers of matters. The new revision makes the commit of a concurrent push fail, and
 * the worker then reads the matter again.
 */
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
