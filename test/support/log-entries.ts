/** Entries of the push log, as the service would have written them. */
import { Types } from 'mongoose';
import type { LogEntry } from '../../src/storage/push-log/entry';
import { createIdSource } from '../../src/storage/push-log/request-id';

const newId = createIdSource().ofRequest;

/** Waits still, unless said otherwise. @param at of its receipt, epoch milliseconds */
export const aLogEntry = (over: Partial<LogEntry> = {}, at = Date.now()): LogEntry => ({
  _id: new Types.ObjectId(newId(at)),
  ...{ clientId: 'tester', systemCode: 'TEST', operation: 'upsert', bodyHash: '-', bodySize: 0 },
  ...{ receivedAt: new Date(at), deadlineAt: new Date(at), state: 'QUEUED' as const },
  ...over,
});
