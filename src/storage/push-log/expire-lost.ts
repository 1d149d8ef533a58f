/**
 * Expires the entries of pushes that were lost on the way to a worker (a crash between log and queue, a
 * Redis that was emptied), so that they can never be applied later. Ids are in the order of receipt, so
 * each entry is looked at once, when nobody can be at work on it any more: how far that has come is kept
 * in the database, for all workers. No index is needed for it, so none is touched by a settlement.
 */
import { type Connection, type mongo, Types } from 'mongoose';
import { nativeCollection, stateCollection } from '../mongo';
import { entryModel, type LogEntry } from './entry-model';
import type { Settling } from './log';
import { firstIdAt } from './request-id';
import { resultOf } from './settlement';

/**
 * Looks at the entries between the last look and `before`, several hundred thousand at most.
 *
 * @param before entries that were received before it, epoch milliseconds of the queue's clock
 * @param stopping leaves the rest for another look
 * @returns how many were expired
 */
export type ExpireLost = (
  before: number,
  by: Omit<Settling, 'session'>,
  stopping?: AbortSignal,
) => Promise<number>;

interface Progress {
  readonly _id: string;
  /** Entries with ids below it were looked at. */
  readonly mark: Types.ObjectId;
}

const PROGRESS = 'lost pushes';
/** Entries of one command, and commands of one call. */
const MOST = 5_000;
const STEPS = 50;
/** Milliseconds for one command. */
const TIMEOUT = 10_000;

export function createExpireLost(connection: Connection): ExpireLost {
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const progress = stateCollection<Progress>(connection);

  /** Where the next `MOST` entries end. */
  const endOfStep = async (from: Types.ObjectId, end: Types.ObjectId) => {
    const [next] = await entries
      .find({ _id: { $gte: from, $lt: end } }, { hint: '_id_', maxTimeMS: TIMEOUT })
      .project<{ _id: Types.ObjectId }>({ _id: 1 })
      .sort({ _id: 1 })
      .skip(MOST)
      .limit(1)
      .toArray();
    return next?._id ?? end;
  };

  return async (before, { now, worker }, stopping) => {
    const end = new Types.ObjectId(firstIdAt(before));
    const update = {
      $set: { ...resultOf({ state: 'EXPIRED' }), settledAt: new Date(now), worker },
      $unset: { idempotencyFingerprint: 1 },
    } as const;
    let from = (await progress.findOne({ _id: PROGRESS }))?.mark ?? BEGINNING;
    let expired = 0;
    for (let step = 0; step < STEPS && !from.equals(end); step += 1) {
      if (stopping?.aborted) break;
      const upper = await endOfStep(from, end);
      const lost: mongo.Filter<LogEntry> = { _id: { $gte: from, $lt: upper }, state: 'QUEUED' };
      const options = { hint: '_id_', maxTimeMS: TIMEOUT };
      expired += (await entries.updateMany(lost, update, options)).modifiedCount;
      if (!(await moveMark(progress, from, upper))) break;
      from = upper;
    }
    return expired;
  };
}

const BEGINNING = new Types.ObjectId(firstIdAt(0));

/**
 * It follows the clock of the queue, also where that goes back.
 *
 * @returns false where another worker has moved it meanwhile
 */
async function moveMark(
  progress: mongo.Collection<Progress>,
  from: Types.ObjectId,
  to: Types.ObjectId,
): Promise<boolean> {
  if (from === BEGINNING) await beginMark(progress);
  const moved = await progress.updateOne({ _id: PROGRESS, mark: from }, { $set: { mark: to } });
  return moved.matchedCount === 1;
}

/** Without effect where there is a mark. @param mark below it nothing has to be looked at */
async function beginMark(progress: mongo.Collection<Progress>, mark = BEGINNING): Promise<void> {
  await progress.updateOne({ _id: PROGRESS }, { $setOnInsert: { mark } }, { upsert: true });
}

/** The index by which lost pushes were found before there was a mark. */
export const OLD_STATES = 'states';

/** Begins the mark of a log that has the old index, which knows the oldest entry that is open. */
export async function beginWithOldStates(connection: Connection, now: number): Promise<void> {
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const [oldest] = await entries
    .find({ state: 'QUEUED' }, { hint: OLD_STATES })
    .sort({ _id: 1 })
    .limit(1)
    .toArray();
  const today = firstIdAt(now - 86_400_000);
  const mark = new Types.ObjectId([today, ...(oldest ? [String(oldest._id)] : [])].sort()[0]);
  await beginMark(stateCollection<Progress>(connection), mark);
}
