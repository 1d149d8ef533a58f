/**
 * Writes the final states of pushes that take no effect. `web` and workers finalize such pushes (`Finalize`). A worker
 * also expires lost pushes (`ExpireLost`), for example the pushes of a `web` process that died.
 */
import { type Connection, type mongo, Types } from 'mongoose';
import { timeoutCause } from '../../infra/driver-errors';
import { nativeCollection, stateCollection } from '../../infra/mongo';
import type { Append } from './append';
import { entryModel, type LogEntry } from './entry';
import type { LogLookups } from './lookups';
import { firstIdAt } from './request-id';
import {
  type PushToSettle,
  resultOf,
  type SettleEntries,
  type Settlement,
  type Settling,
} from './settlement';

interface EntrySettler {
  readonly settle: SettleEntries;
  readonly appendAll: Append;
}

/**
 * Settles the pushes that are still queued, and reads the final state of each push. A push that was settled before
 * keeps its final state. No worker can apply a push after its final state is written.
 *
 * If an election has removed the log entry of a push, `Finalize` inserts `PushToSettle.entry` with the final state. For
 * a push without `PushToSettle.entry`, `Finalize` inserts nothing and returns the given settlement.
 *
 * @returns the final state of each push, in the order of `pushes`. Undefined in three cases: a transaction locks the
 *   entry, the majority did not confirm the write in time, or the removed entry could not be inserted
 */
export type Finalize = (
  pushes: readonly PushToSettle[],
  by: Omit<Settling, 'session' | 'timeout'>,
) => Promise<(Settlement | undefined)[]>;

/** Milliseconds that one command waits for locked entries and for the confirmation by the majority. */
const COMMAND_TIMEOUT = 500;
/**
 * If a transaction locks entries, each push is settled with its own command. At most MAX_CONCURRENT of these commands
 * run at a time. After RETRY_ALONE_TIMEOUT milliseconds, no further command starts.
 */
const MAX_CONCURRENT = 8;
const RETRY_ALONE_TIMEOUT = 1_000;

export function createFinalize(pushLog: EntrySettler, lookups: LogLookups): Finalize {
  return async (pushes, by) => {
    if (pushes.length === 0) return [];
    const ids = pushes.map(({ id }) => id);
    const result = await trySettle(pushLog, pushes, by);
    let settled = result === 'settled' ? ids : [];
    let found = await lookups.settlements(ids);
    // The command timed out at a locked entry and did not reach the following entries.
    if (result === 'locked' && pushes.length > 1) {
      const left = pushes.filter(({ id }) => !found.get(id));
      settled = await settleEach(pushLog, left, by);
      found = await lookups.settlements(ids);
    }
    const isSettled = new Set(settled);
    const lost = pushes.filter(({ id }) => isSettled.has(id) && !found.has(id));
    const unwritten = await insertLost(pushLog, lost, by);
    return pushes.map(({ id, settlement }) => {
      if (found.has(id)) return found.get(id);
      return isSettled.has(id) && !unwritten.has(id) ? settlement : undefined;
    });
  };
}

/**
 * Inserts the entries that an election has removed, with their final states. Skips pushes without `PushToSettle.entry`.
 *
 * @returns the ids of the pushes whose entries could not be inserted
 */
async function insertLost(
  pushLog: EntrySettler,
  lost: readonly PushToSettle[],
  { now, worker }: Settling,
): Promise<Set<string>> {
  const ended = lost.flatMap(({ entry, settlement }) => {
    if (!entry) return [];
    const { idempotencyFingerprint: _, ...rest } = entry;
    const result = { ...resultOf(settlement), settledAt: new Date(now), worker };
    return { entry: { ...rest, ...result }, body: undefined };
  });
  if (ended.length === 0) return new Set();
  const failures = await pushLog.appendAll(ended);
  return new Set([...failures.keys()].map(({ _id }) => String(_id)));
}

/** @returns `settled`, or why the command timed out: an entry was `locked`, or the write stayed `unconfirmed` */
async function trySettle(
  pushLog: EntrySettler,
  pushes: readonly PushToSettle[],
  by: Settling,
): Promise<'settled' | 'locked' | 'unconfirmed'> {
  try {
    await pushLog.settle(pushes, { ...by, timeout: COMMAND_TIMEOUT });
    return 'settled';
  } catch (error) {
    const cause = timeoutCause(error);
    if (!cause) throw error;
    return cause;
  }
}

/** Settles each push with its own command. @returns the ids of the pushes whose commands succeeded in time */
async function settleEach(
  pushLog: EntrySettler,
  pushes: readonly PushToSettle[],
  by: Settling,
): Promise<string[]> {
  const until = performance.now() + RETRY_ALONE_TIMEOUT;
  const waiting = [...pushes];
  const settled: string[] = [];
  const settleNext = async () => {
    while (performance.now() < until) {
      const push = waiting.shift();
      if (!push) return;
      if ((await trySettle(pushLog, [push], by)) === 'settled') settled.push(push.id);
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, settleNext));
  return settled;
}

// Expiry of lost pushes: entries stay QUEUED if `web` crashes before it queues their pushes, or if Redis loses its
// data. A worker sets such entries to EXPIRED, so that their pushes can never be applied later. Workers check the
// entries in the order of request ids, which is the order of receipt. Each entry is checked once, after the deadline of
// its push. The database stores the position of the check (`Progress.mark`), which all workers share. The check uses
// the index of ids, because MongoDB would have to update an index of the state at each settlement.

/**
 * Checks the entries that were received before the time `before` and that no call has checked yet. Expires each entry
 * that is still QUEUED. One call checks at most 250,000 entries.
 *
 * @param before epoch milliseconds of the Redis clock; the deadlines of all pushes received before have passed
 * @param stopping ends the check early; the next call continues with the following entries
 * @returns the number of entries that this call expired
 */
export type ExpireLost = (
  before: number,
  by: { readonly now: number; readonly worker: string },
  stopping?: AbortSignal,
) => Promise<number>;

interface Progress {
  readonly _id: string;
  /** All entries with ids below the mark were checked. */
  readonly mark: Types.ObjectId;
}

const PROGRESS = 'lost pushes';
/** Maximum entries that one command checks, and maximum such commands of one call. */
const ENTRIES_PER_STEP = 5_000;
const MAX_STEPS = 50;
/** Milliseconds for one command. */
const TIMEOUT = 10_000;

export function createExpireLost(connection: Connection): ExpireLost {
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const progress = stateCollection<Progress>(connection);

  /** The id of the entry after the next `ENTRIES_PER_STEP` entries; `end` if there is no such entry before `end`. */
  const endOfStep = async (from: Types.ObjectId, end: Types.ObjectId) => {
    const [next] = await entries
      .find({ _id: { $gte: from, $lt: end } }, { hint: '_id_', maxTimeMS: TIMEOUT })
      .project<{ _id: Types.ObjectId }>({ _id: 1 })
      .sort({ _id: 1 })
      .skip(ENTRIES_PER_STEP)
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
    for (let step = 0; step < MAX_STEPS && !from.equals(end); step += 1) {
      if (stopping?.aborted) break;
      const upper = await endOfStep(from, end);
      const lostPushes: mongo.Filter<LogEntry> = {
        _id: { $gte: from, $lt: upper },
        state: 'QUEUED',
      };
      const options = { hint: '_id_', maxTimeMS: TIMEOUT };
      expired += (await entries.updateMany(lostPushes, update, options)).modifiedCount;
      if (!(await moveMark(progress, from, upper))) break;
      from = upper;
    }
    return expired;
  };
}

const BEGINNING = new Types.ObjectId(firstIdAt(0));

/**
 * Stores the new mark. The new mark can be earlier than the old mark if the Redis clock was set back.
 *
 * @returns false if another worker has moved the mark meanwhile
 */
async function moveMark(
  progress: mongo.Collection<Progress>,
  from: Types.ObjectId,
  to: Types.ObjectId,
): Promise<boolean> {
  // This write changes nothing if the document exists already.
  const begin = { $setOnInsert: { mark: BEGINNING } };
  if (from === BEGINNING) await progress.updateOne({ _id: PROGRESS }, begin, { upsert: true });
  const moved = await progress.updateOne({ _id: PROGRESS, mark: from }, { $set: { mark: to } });
  return moved.matchedCount === 1;
}
