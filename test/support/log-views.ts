/** Log entries as operators see them, for tests: complete, with what a test is about laid over them. */
import type { OperatorEntryView } from '../../src/portal/entry-view';

/** A persisted push that changed nothing. */
export const anEntryView = (over: Partial<OperatorEntryView> = {}): OperatorEntryView => ({
  requestId: '0123456789abcdef01234567',
  clientId: 'oa',
  systemCode: 'OA',
  operation: 'status',
  externalId: 'A-1',
  idempotencyKey: null,
  attempt: null,
  bodyHash: 'ab'.repeat(32),
  bodySize: 12,
  secretId: 's1',
  receivedAt: '2024-06-01T00:00:00.000Z',
  queuedAt: '2024-06-01T00:00:00.005Z',
  startedAt: '2024-06-01T00:00:00.010Z',
  settledAt: '2024-06-01T00:00:00.042Z',
  state: 'PERSISTED',
  outcome: 'UPDATED',
  reason: null,
  problems: [],
  stale: null,
  matterId: '7',
  revision: null,
  changes: [],
  origin: null,
  replayOf: null,
  mark: null,
  worker: 'worker-1',
  operator: null,
  ...over,
});
