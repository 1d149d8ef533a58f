/**
 * Entries and bodies as they are recorded: two inserts side by side, each of many documents. What fails
 * for a moment (a conflict, an election, a cut connection) is tried again within the push's own time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, mongo } from 'mongoose';
import { createBatcher } from '../../concurrency/batcher';
import { type Clock, systemClock } from '../../concurrency/clock';
import { type Metrics, NO_METRICS } from '../../telemetry/metrics';
import type { Tracing } from '../../telemetry/tracing';
import { errorsOfDocuments, isDuplicateKey, isTransient, isUnconfirmed } from '../driver-errors';
import { CONFIRMED, nativeCollection } from '../mongo';
import { bodyModel, type LoggedBody } from './body-model';
import { entryModel, type LogEntry } from './entry-model';

/** An entry and, where it is kept, its body. */
export interface LoggedPush {
  readonly entry: LogEntry;
  readonly body: LoggedBody | undefined;
}

/**
 * Records entries and their bodies; confirmed. Once it resolves, those that did not fail are there. A body
 * without its entry, where the rest failed, is found by nobody and goes by its time; so does no harm an
 * entry without its body, whose push is not queued.
 *
 * @param pushes of one deadline
 * @returns what did not succeed in the time that the deadline leaves, with the last error of each
 */
export type Append = (pushes: readonly LoggedPush[]) => Promise<AppendFailures>;
export type AppendFailures = ReadonlyMap<LogEntry, Error>;

export interface AppendOptions {
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
  /** By which the entries' times are given. */
  readonly clock?: Clock | undefined;
}

interface Appending extends LoggedPush {
  /** It may be there already. */
  readonly isRetry: boolean;
}

const MAX_BATCH = 500;
/** Bytes of bodies in one insert: it is a moment's work for the database, and far from its limits. */
const MAX_BYTES = 4 * 1024 * 1024;
/** So that both bounds are one. */
const MIN_WEIGHT = Math.floor(MAX_BYTES / MAX_BATCH);
/** Milliseconds: longer than an insert takes where nothing is wrong. */
const HEAD_START = 50;
/** The share of a push's time that is reserved for the queue and a worker. */
const RESERVE = 0.2;
/** Milliseconds before the first retry, doubled with each one, and at random up to half longer. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 640;

export function createAppend(connection: Connection, options: AppendOptions = {}): Append {
  const { metrics = NO_METRICS, tracing, clock = systemClock } = options;
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const bodies = nativeCollection<LoggedBody>(bodyModel(connection));
  const insert = async (pushes: readonly Appending[]): Promise<AppendFailures> => {
    metrics.batch('log', pushes.length);
    const now = clock();
    const inTime = pushes.filter(({ entry }) => !isTooLate(entry, now));
    const kept = inTime.filter(({ body }) => body !== undefined);
    const [ofEntries, ofBodies] = await Promise.all([
      insertAll(entries, inTime, ({ entry }) => entry),
      insertAll(bodies, kept, ({ body }) => body as LoggedBody),
    ]);
    const late = pushes.filter(({ entry }) => isTooLate(entry, now));
    const lateness = new Error('it is past its deadline');
    return new Map([
      ...ofBodies,
      ...ofEntries,
      ...late.map(({ entry }): [LogEntry, Error] => [entry, lateness]),
    ]);
  };
  const batches = createBatcher<readonly Appending[], AppendFailures>({
    run: async (groups) => {
      const failures = await insert(groups.length === 1 ? (groups[0] ?? []) : groups.flat());
      return groups.map(() => failures);
    },
    maxBatch: MAX_BATCH,
    weight: { of: weightOf, most: MAX_BYTES },
    // One that hangs must not hold up all the others.
    maxRunning: 2,
    headStart: HEAD_START,
    tracing,
    name: 'log',
  });
  return async (pushes) => {
    const last = lastTry(pushes);
    const failed = new Map<LogEntry, Error>();
    let open = pushes.map(({ entry, body }) => ({ entry, body, isRetry: false }));
    for (let tries = 0; open.length > 0; tries += 1) {
      const failures = await batches.add(open);
      const pause = Math.min(FIRST_PAUSE * 2 ** tries, LONGEST_PAUSE) * (1 + Math.random() / 2);
      const isLast = clock() + pause > last;
      open = failures.size === 0 ? [] : open.filter(({ entry }) => failures.has(entry));
      open = open.filter(({ entry }) => {
        const failure = failures.get(entry);
        if (failure && (isLast || !isTransient(failure))) failed.set(entry, failure);
        return !failed.has(entry);
      });
      open = open.map(({ entry, body }) => ({ entry, body, isRetry: true }));
      if (open.length > 0) await sleep(pause);
    }
    return failed;
  };
}

function weightOf(pushes: readonly Appending[]): number {
  let weight = 0;
  for (const { body } of pushes) weight += Math.max(MIN_WEIGHT, body?.body.length ?? 0);
  return weight;
}

/** Epoch milliseconds. */
function lastTry([first]: readonly LoggedPush[]): number {
  if (!first) return 0;
  const { receivedAt, deadlineAt } = first.entry;
  return deadlineAt.getTime() - RESERVE * (deadlineAt.getTime() - receivedAt.getTime());
}

/** An open entry that came so late (its process stood still) would be met by nobody who ends it. */
const isTooLate = ({ state, deadlineAt }: LogEntry, now: number) =>
  state === 'QUEUED' && deadlineAt.getTime() < now;

/**
 * Inserts a document of each item, none of which stands in the way of another.
 *
 * @returns the entries of the items that failed, with their errors
 */
async function insertAll<T extends { _id: unknown }>(
  collection: mongo.Collection<T>,
  items: readonly Appending[],
  documentOf: (item: Appending) => T,
): Promise<Map<LogEntry, Error>> {
  if (items.length === 0) return new Map();
  const documents = items.map(documentOf) as mongo.OptionalUnlessRequiredId<T>[];
  try {
    await collection.insertMany(documents, { ordered: false, writeConcern: CONFIRMED });
    return new Map();
  } catch (error) {
    const each = errorsOfDocuments(error);
    if (each.size === 0 || isUnconfirmed(error)) {
      return new Map(items.map(({ entry }) => [entry, asError(error)]));
    }
    const failed = [...each].flatMap(([index, one]): [LogEntry, Error][] => {
      const item = items[index];
      // A try before this one got through, and nobody was told. That it was met means that it is
      // confirmed by now: the server waits for that here too.
      return !item || (item.isRetry && isDuplicateKey(one)) ? [] : [[item.entry, one]];
    });
    return new Map(failed);
  }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
