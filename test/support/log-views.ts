/** Log entries as operators see them, for tests: complete, with what a test is about laid over them. */
import { Types } from 'mongoose';
import type { OperatorEntryView } from '../../src/protocol/log-entry';
import { toOperatorEntryView } from '../../src/queries/presenters/entry';

/** A persisted push that changed nothing. */
const ENTRY = toOperatorEntryView(
  {
    _id: new Types.ObjectId('0123456789abcdef01234567'),
    clientId: 'oa',
    systemCode: 'OA',
    operation: 'status',
    externalId: 'A-1',
    bodyHash: 'ab'.repeat(32),
    bodySize: 12,
    secretId: 's1',
    receivedAt: new Date('2024-06-01T00:00:00.000Z'),
    deadlineAt: new Date('2024-06-01T00:00:10.000Z'),
    queuedAt: new Date('2024-06-01T00:00:00.005Z'),
    startedAt: new Date('2024-06-01T00:00:00.010Z'),
    settledAt: new Date('2024-06-01T00:00:00.042Z'),
    state: 'PERSISTED',
    result: 'UPDATED',
    matterId: 7n,
    worker: 'worker-1',
  },
  undefined,
);

export const anEntryView = (over: Partial<OperatorEntryView> = {}): OperatorEntryView => ({
  ...ENTRY,
  ...over,
});
