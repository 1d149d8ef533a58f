/**
 * Entry point of `storage/push-log/`. Only `storage/` and tests import the other files, except `request-id.ts`. Tools
 * import `request-id.ts` alone, because `request-id.ts` does not load the database driver. Instants are epoch
 * milliseconds in parameters and dates in entries. By default, functions throw the errors of the driver.
 *
 * - `createPushLog`: inserts the entry of a push before the push is queued, and settles the entry in the transaction of
 *   the matter.
 * - `createFinalize`, `createExpireLost`: write the final states of pushes that take no effect.
 * - `createLogLookups`: finds entries by request id, idempotency key or fingerprint.
 * - `createLogSearch`: searches entries for queries and tools.
 * - `createFindMended`: finds the later pushes that resolved failed pushes.
 * - `createBodies`: reads stored bodies.
 * - `createPushCounts`: counts the answered pushes. `createPushCountReader` reads these counts.
 */
import type { Connection } from 'mongoose';
import { nativeCollection } from '../infra/mongo';
import { type Append, createAppend, type PushLogOptions } from './push-log/append';
import { entryModel, type LogEntry } from './push-log/entry';
import { createSettleEntries, type SettleEntries } from './push-log/settlement';

export * from './push-log/attempts';
export * from './push-log/counts';
export * from './push-log/entry';
export * from './push-log/finalize';
export * from './push-log/log-filter';
export * from './push-log/lookups';
export * from './push-log/mended';
export * from './push-log/read-counts';
export * from './push-log/search';
export * from './push-log/settlement';

export interface PushLog {
  /**
   * Inserts one entry, and the body if there is one.
   *
   * @throws the last error if the entry or the body was not written in time
   */
  append(entry: LogEntry, body?: Uint8Array): Promise<void>;
  readonly appendAll: Append;
  readonly settle: SettleEntries;
}

export function createPushLog(connection: Connection, options: PushLogOptions = {}): PushLog {
  const appendAll = createAppend(connection, options);
  return {
    append: async (entry, body) => {
      const failure = (await appendAll([{ entry, body }])).get(entry);
      if (failure) throw failure;
    },
    appendAll,
    settle: createSettleEntries(nativeCollection<LogEntry>(entryModel(connection))),
  };
}
