/** Writes the final states of pushes that take no effect (`Finalize`), and expires lost pushes (`ExpireLost`). */
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
 * Writes the final states of QUEUED entries, and then reads the final states of all pushes. Inserts
 * `PushToSettle.entry` if a failover of MongoDB has removed the entry.
 *
 * @returns undefined for a push with an unknown final state
 */
export type Finalize = (
  pushes: readonly PushToSettle[],
  by: Omit<Settling, 'session' | 'timeout'>,
) => Promise<(Settlement | undefined)[]>;

/** Maximum milliseconds of one command. */
const COMMAND_TIMEOUT = 500;
const MAX_CONCURRENT = 8;
/** Milliseconds after which `settleEach` starts no further command. */
const RETRY_ALONE_TIMEOUT = 1_000;

export function createFinalize(pushLog: EntrySettler, lookups: LogLookups): Finalize {
  return async (pushes, by) => {
    if (pushes.length === 0) return [];
    const ids = pushes.map(({ id }) => id);
    const result = await trySettle(pushLog, pushes, by);
    let settled = result === 'settled' ? ids : [];
    let found = await lookups.settlements(ids);
    // `settle` stopped at a locked entry, so each remaining push gets a separate command.
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

// A push is lost if `web` crashes before the push is queued, or if Redis loses data. The log entry then stays QUEUED.
// `ExpireLost` reads ranges of ids, because an index of states is expensive.

/**
 * Expires the QUEUED entries of pushes that were received before `before`. Each call continues at `Progress.mark`.
 *
 * @param before Redis time, epoch milliseconds; the deadlines of all earlier pushes must have passed
 * @param stopping if aborted, the call ends early
 * @returns the number of expired entries
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
const ENTRIES_PER_STEP = 5_000;
const MAX_STEPS = 50;
const TIMEOUT = 10_000;

export function createExpireLost(connection: Connection): ExpireLost {
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const progress = stateCollection<Progress>(connection);

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

/** @returns false if another worker has moved the mark meanwhile */
async function moveMark(
  progress: mongo.Collection<Progress>,
  from: Types.ObjectId,
  to: Types.ObjectId,
): Promise<boolean> {
  const begin = { $setOnInsert: { mark: BEGINNING } };
  if (from === BEGINNING) await progress.updateOne({ _id: PROGRESS }, begin, { upsert: true });
  const moved = await progress.updateOne({ _id: PROGRESS, mark: from }, { $set: { mark: to } });
  return moved.matchedCount === 1;
}
