/** Entry point of `push-log/`. Production code outside `storage/` imports only this file and `request-id.ts`. */
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
  /** @throws the error of the last attempt if the entry or the body may be missing */
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
