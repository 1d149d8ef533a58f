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

/**
 * Records an entry and, where given, its body; confirmed. Once it resolves both are there. A body
 * without its entry, where the rest failed, is found by nobody and goes by its time; so does no harm an
 * entry without its body, whose push is not queued.
 *
 * @throws the last error, where it did not succeed in the time that the entry's deadline leaves
 */
export type Append = (entry: LogEntry, body: LoggedBody | undefined) => Promise<void>;

export interface AppendOptions {
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
  /** By which the entries' times are given. */
  readonly clock?: Clock | undefined;
}

interface Appending {
  readonly entry: LogEntry;
  readonly body: LoggedBody | undefined;
  /** It may be there already. */
  readonly isRetry: boolean;
}

const MAX_BATCH = 500;
/** Bytes of bodies in one insert: it is a moment's work for the database, and far from its limits. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Milliseconds: longer than an insert takes where nothing is wrong. */
const HEAD_START = 50;
/** The share of a push's time that is reserved for the queue and a worker. */
const RESERVE = 0.2;
/** Milliseconds before the first retry, doubled with each one, and at random up to half longer. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 640;

/** What a write of one document came to: nothing, or why it failed. */
type Failure = Error | undefined;

export function createAppend(connection: Connection, options: AppendOptions = {}): Append {
  const { metrics = NO_METRICS, tracing, clock = systemClock } = options;
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const bodies = nativeCollection<LoggedBody>(bodyModel(connection));
  const batches = createBatcher<Appending, Failure>({
    run: async (batch) => {
      metrics.batch('log', batch.length);
      const now = clock();
      const inTime = batch.filter(({ entry }) => !isTooLate(entry, now));
      const kept = inTime.filter(({ body }) => body !== undefined);
      const [ofEntries, ofBodies] = await Promise.all([
        insertAll(entries, inTime, ({ entry }) => entry),
        insertAll(bodies, kept, ({ body }) => body as LoggedBody),
      ]);
      return batch.map((one) => {
        if (isTooLate(one.entry, now)) return new Error('it is past its deadline');
        return ofEntries.get(one) ?? ofBodies.get(one);
      });
    },
    maxBatch: MAX_BATCH,
    weight: { of: ({ body }) => body?.body.length ?? 0, most: MAX_BYTES },
    // One that hangs must not hold up all the others.
    maxRunning: 2,
    headStart: HEAD_START,
    tracing,
    name: 'log',
  });
  return async (entry, body) => {
    const { receivedAt, deadlineAt } = entry;
    const last = deadlineAt.getTime() - RESERVE * (deadlineAt.getTime() - receivedAt.getTime());
    for (let tries = 0; ; tries += 1) {
      const failure = await batches.add({ entry, body, isRetry: tries > 0 });
      if (!failure) return;
      const pause = Math.min(FIRST_PAUSE * 2 ** tries, LONGEST_PAUSE) * (1 + Math.random() / 2);
      if (!isTransient(failure) || clock() + pause > last) throw failure;
      await sleep(pause);
    }
  };
}

/** An open entry that came so late (its process stood still) would be met by nobody who ends it. */
const isTooLate = ({ state, deadlineAt }: LogEntry, now: number) =>
  state === 'QUEUED' && deadlineAt.getTime() < now;

/**
 * Inserts a document of each item, none of which stands in the way of another.
 *
 * @returns the items that failed, with their errors
 */
async function insertAll<T extends { _id: unknown }>(
  collection: mongo.Collection<T>,
  items: readonly Appending[],
  documentOf: (item: Appending) => T,
): Promise<Map<Appending, Error>> {
  if (items.length === 0) return new Map();
  const documents = items.map(documentOf) as mongo.OptionalUnlessRequiredId<T>[];
  try {
    await collection.insertMany(documents, { ordered: false, writeConcern: CONFIRMED });
    return new Map();
  } catch (error) {
    const each = errorsOfDocuments(error);
    if (each.size === 0 || isUnconfirmed(error)) {
      return new Map(items.map((item) => [item, asError(error)]));
    }
    const failed = [...each].flatMap(([index, one]): [Appending, Error][] => {
      const item = items[index];
      // A try before this one got through, and nobody was told. That it was met means that it is
      // confirmed by now: the server waits for that here too.
      return !item || (item.isRetry && isDuplicateKey(one)) ? [] : [[item, one]];
    });
    return new Map(failed);
  }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
