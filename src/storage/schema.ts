/**
 * Whether the `release` step has prepared the database. Without its indexes a search fails, and two matters
 * may get one key: web and worker accept no push until all of them exist. A database that was restored without its
 * indexes is not prepared either, so the indexes themselves are read, not a mark.
 */
import type { Connection } from 'mongoose';
import { type PollLoop, startPollLoop } from '../concurrency/poll-loop';
import { PushError } from '../protocol/errors';
import type { Logger } from '../runtime/logger';
import { isMissingCollection } from './driver-errors';
import { expectedIndexes } from './indexes';

/** Milliseconds between two looks while indexes are missing, and while all exist. */
const LOOK_EVERY = 500;
const WATCH_EVERY = 10_000;

/** The release step, as the log and the answers name it. */
export const RELEASE_STEP = 'node dist/src/release.js';

export interface SchemaWatch extends PollLoop {
  isPrepared(): boolean;
  /** @throws PushError DATABASE_NOT_PREPARED */
  check(): void;
  /** Resolves when the database is prepared. */
  untilPrepared(): Promise<void>;
}

/** @returns the indexes that the database lacks, as `collection.index` */
export async function findMissingIndexes(connection: Connection): Promise<string[]> {
  const missing = await Promise.all(
    expectedIndexes(connection).map(async ({ collection, names }) => {
      const existing = await indexesOf(connection, collection);
      return names.filter((name) => !existing.has(name)).map((name) => `${collection}.${name}`);
    }),
  );
  return missing.flat();
}

async function indexesOf(connection: Connection, collection: string): Promise<Set<unknown>> {
  try {
    const found = await connection.collection(collection).indexes();
    return new Set(found.map(({ name }) => name));
  } catch (error) {
    if (isMissingCollection(error)) return new Set();
    throw error;
  }
}

/** Looks once, then again and again until it is stopped. @throws the driver's error if the first look fails */
export async function watchSchema(connection: Connection, logger: Logger): Promise<SchemaWatch> {
  let isPrepared = true;
  let next = 0;
  let waiting: (() => void)[] = [];
  const look = async (): Promise<void> => {
    const missing = await findMissingIndexes(connection);
    const was = isPrepared;
    isPrepared = missing.length === 0;
    next = performance.now() + (isPrepared ? WATCH_EVERY : LOOK_EVERY);
    if (!isPrepared && was) logger.error({ missing, run: RELEASE_STEP }, NOT_PREPARED);
    if (!isPrepared) return;
    if (!was) logger.info('the database is prepared');
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  await look();
  const loop = startPollLoop(
    async () => {
      if (performance.now() >= next) await look();
    },
    LOOK_EVERY,
    (error) => logger.debug({ error: String(error) }, 'could not read the indexes, retrying'),
  );
  return {
    isPrepared: () => isPrepared,
    check: () => {
      if (!isPrepared) throw new PushError('DATABASE_NOT_PREPARED');
    },
    untilPrepared: () =>
      isPrepared ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
    stop: loop.stop,
  };
}

const NOT_PREPARED =
  'the database is not prepared: run the release step. No push is accepted until then';
