/** Entry point of `storage/schema/`, which creates the collections and indexes, and checks the indexes. */
import type { Connection } from 'mongoose';
import { type PollLoop, startPollLoop } from '../concurrency/timing';
import type { Logger } from '../infra/logger';
import { PushError } from '../protocol/errors';
import { findMissingIndexes } from './schema/indexes';

export { findMissingIndexes } from './schema/indexes';
export { prepareDatabase, type SchemaSettings } from './schema/prepare';

export const RELEASE_STEP = 'node dist/src/release.js';

export interface SchemaWatch extends PollLoop {
  isPrepared(): boolean;
  /** @throws PushError DATABASE_NOT_PREPARED */
  check(): void;
  untilPrepared(): Promise<void>;
}

/** Milliseconds between two checks while an index is missing. */
const CHECK_EVERY = 500;
/** Milliseconds between two checks while no index is missing. */
const WATCH_EVERY = 10_000;
const NOT_PREPARED =
  'the database is not prepared, so all pushes are rejected: run the release step';

/** Returns after the first check of the indexes. @throws the driver's error */
export async function createSchemaCheck(
  connection: Connection,
  logger: Logger,
): Promise<SchemaWatch> {
  let isPrepared = true;
  let next = 0;
  let waiting: (() => void)[] = [];
  const check = async (): Promise<void> => {
    const missing = await findMissingIndexes(connection);
    const wasPrepared = isPrepared;
    isPrepared = missing.length === 0;
    next = performance.now() + (isPrepared ? WATCH_EVERY : CHECK_EVERY);
    if (!isPrepared && wasPrepared) logger.error({ missing, run: RELEASE_STEP }, NOT_PREPARED);
    if (!isPrepared) return;
    if (!wasPrepared) logger.info('the database is prepared');
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  await check();
  const loop = startPollLoop(
    async () => {
      if (performance.now() >= next) await check();
    },
    CHECK_EVERY,
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
