/** Inserts push-log entries and the bodies of pushes. One command inserts many documents. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, mongo } from 'mongoose';
import { createBatcher } from '../../concurrency/batcher';
import { type Clock, systemClock } from '../../concurrency/timing';
import {
  errorsOfDocuments,
  isDuplicateKey,
  isTransient,
  isUnconfirmed,
} from '../../infra/driver-errors';
import { MAJORITY_WRITE_CONCERN, nativeCollection, PRIMARY_WRITE_CONCERN } from '../../infra/mongo';
import { type Metrics, NO_METRICS } from '../../observability/metrics';
import type { Tracing } from '../../observability/tracing';
import { bodyModel, entryModel, type LogEntry, type LoggedBody } from './entry';

export interface UnloggedPush {
  readonly entry: LogEntry;
  readonly body: Uint8Array | undefined;
}

/**
 * Returns an error for each push whose entry or body may be missing. A body that `keepBodies` or MAX_BODY excludes
 * causes no error.
 */
export type Append = (pushes: readonly UnloggedPush[]) => Promise<AppendFailures>;
export type AppendFailures = ReadonlyMap<LogEntry, Error>;

export interface PushLogOptions {
  readonly keepBodies?: boolean;
  readonly metrics?: Metrics | undefined;
  readonly tracing?: Tracing | undefined;
  /** The clock that sets `receivedAt` and `deadlineAt` of the entries. */
  readonly clock?: Clock | undefined;
}

interface PendingPush extends UnloggedPush {
  /** True after a failed attempt. */
  readonly isRetry: boolean;
}

/** Maximum bytes of a stored body. */
const MAX_BODY = 8 * 1024 * 1024;
const EMPTY = new Uint8Array();
const MAX_BATCH = 500;
/** Approximate maximum bytes of the bodies in one insert. */
const MAX_BYTES = 4 * 1024 * 1024;
/** A push with a smaller body counts as this many bytes. */
const MIN_WEIGHT = Math.floor(MAX_BYTES / MAX_BATCH);
/** Minimum milliseconds between the starts of two concurrent inserts. */
const HEAD_START = 50;
/** Share of a push's time limit that is reserved for the queue and the worker. */
const RESERVE = 0.2;
const TOO_LATE = new Error('entry not inserted: the deadline of the push has passed');
/** Milliseconds before the first retry. */
const FIRST_PAUSE = 20;
const MAX_PAUSE = 640;

export function createAppend(connection: Connection, options: PushLogOptions = {}): Append {
  const { keepBodies = true, metrics = NO_METRICS, tracing, clock = systemClock } = options;
  const entries = nativeCollection<LogEntry>(entryModel(connection));
  const bodies = nativeCollection<LoggedBody>(bodyModel(connection));
  const withBody = ({ entry, body }: UnloggedPush): PendingPush => {
    const isKept = keepBodies && body !== undefined && body.length <= MAX_BODY;
    return { entry, body: isKept ? body : undefined, isRetry: false };
  };
  const insert = async (
    pushes: readonly PendingPush[],
    writeConcern: mongo.WriteConcernSettings,
  ): Promise<AppendFailures> => {
    metrics.batch('log', pushes.length);
    const now = clock();
    const isLate = ({ entry }: PendingPush) => isTooLate(entry, now);
    const inTime = pushes.filter((push) => !isLate(push));
    const withBodies = inTime.filter(({ body }) => body !== undefined);
    const [entryFailures, bodyFailures] = await Promise.all([
      insertAll(entries, inTime, ({ entry }) => entry, writeConcern),
      insertAll(bodies, withBodies, bodyOf, writeConcern),
    ]);
    const late = pushes.filter(isLate).map(({ entry }) => [entry, TOO_LATE] as const);
    return new Map([...bodyFailures, ...entryFailures, ...late]);
  };
  const createBatches = (writeConcern: mongo.WriteConcernSettings) =>
    createBatcher<readonly PendingPush[], AppendFailures>({
      run: async (groups) => {
        const pushes = groups.length === 1 ? (groups[0] ?? []) : groups.flat();
        const failures = await insert(pushes, writeConcern);
        return groups.map(() => failures);
      },
      maxBatch: MAX_BATCH,
      weight: { of: weightOf, max: MAX_BYTES },
      // One slow insert must not block all pushes.
      maxRunning: 2,
      headStart: HEAD_START,
      tracing,
      name: 'log',
    });
  const queuedBatches = createBatches(PRIMARY_WRITE_CONCERN);
  const endedBatches = createBatches(MAJORITY_WRITE_CONCERN);
  const insertInBatches = async (pushes: readonly PendingPush[]): Promise<AppendFailures> => {
    const ended = pushes.filter((push) => !isQueued(push));
    if (ended.length === 0) return queuedBatches.add(pushes);
    if (ended.length === pushes.length) return endedBatches.add(pushes);
    const failures = await Promise.all([
      queuedBatches.add(pushes.filter(isQueued)),
      endedBatches.add(ended),
    ]);
    return new Map(failures.flatMap((of) => [...of]));
  };
  return async (pushes) => {
    const lastRetryAt = lastRetryOf(pushes);
    const failed = new Map<LogEntry, Error>();
    let pending = pushes.map(withBody);
    for (let tries = 0; pending.length > 0; tries += 1) {
      const failures = await insertInBatches(pending);
      if (failures.size === 0) break;
      const pause = Math.min(FIRST_PAUSE * 2 ** tries, MAX_PAUSE) * (1 + Math.random() / 2);
      const isLast = clock() + pause > lastRetryAt;
      pending = pending.flatMap((push) => {
        const failure = failures.get(push.entry);
        if (!failure) return [];
        if (!isLast && isTransient(failure)) return { ...push, isRetry: true };
        failed.set(push.entry, failure);
        return [];
      });
      if (pending.length > 0) await sleep(pause);
    }
    return failed;
  };
}

/** QUEUED entries need no majority confirmation. If such an entry is lost, the worker does not apply its push. */
const isQueued = ({ entry }: PendingPush) => entry.state === 'QUEUED';

function bodyOf({
  entry: { _id, receivedAt, expireAt },
  body: sent = EMPTY,
}: PendingPush): LoggedBody {
  const body = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  return expireAt ? { _id, receivedAt, expireAt, body } : { _id, receivedAt, body };
}

function weightOf(pushes: readonly PendingPush[]): number {
  let weight = 0;
  for (const { body } of pushes) weight += Math.max(MIN_WEIGHT, body?.length ?? 0);
  return weight;
}

function lastRetryOf([first]: readonly UnloggedPush[]): number {
  if (!first) return 0;
  const { receivedAt, deadlineAt } = first.entry;
  return deadlineAt.getTime() - RESERVE * (deadlineAt.getTime() - receivedAt.getTime());
}

/** A QUEUED entry that is inserted after its deadline could stay QUEUED forever. */
const isTooLate = ({ state, deadlineAt }: LogEntry, now: number) =>
  state === 'QUEUED' && deadlineAt.getTime() < now;

async function insertAll<T extends { _id: unknown }>(
  collection: mongo.Collection<T>,
  items: readonly PendingPush[],
  documentOf: (item: PendingPush) => T,
  writeConcern: mongo.WriteConcernSettings,
): Promise<Map<LogEntry, Error>> {
  if (items.length === 0) return new Map();
  const documents = items.map(documentOf) as mongo.OptionalUnlessRequiredId<T>[];
  try {
    await collection.insertMany(documents, { ordered: false, writeConcern });
    return new Map();
  } catch (error) {
    const each = errorsOfDocuments(error);
    if (each.size === 0 || isUnconfirmed(error)) {
      return new Map(items.map(({ entry }) => [entry, asError(error)]));
    }
    const failed = [...each].flatMap(([index, one]): [LogEntry, Error][] => {
      const item = items[index];
      // A duplicate key in a retry means that an earlier attempt inserted the document.
      return !item || (item.isRetry && isDuplicateKey(one)) ? [] : [[item.entry, one]];
    });
    return new Map(failed);
  }
}

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
