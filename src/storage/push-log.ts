/**
 * Entry point of `storage/push-log/`. The other files are private, except `request-id.ts`: tools import that file
 * alone, because it does not load the database driver. Instants are epoch milliseconds in parameters and dates in
 * entries. A function throws the errors of the driver, unless its comment describes another result.
 *
 * - `createPushLog`: inserts the entry of a push before the push is queued, and settles the entry in the transaction of
 *   the matter.
 * - `createFinalize`, `createExpireLost`: write the final states of pushes that take no effect.
 * - `createLogLookups`: finds earlier entries while a push, a query or a resend is processed.
 * - `createLogSearch`, `createFindMended`, `createBodies`: searches for queries and tools.
 * - `createPushCounts`, `createPushCountReader`: count the pushes that have an answer, and read these counts.
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
