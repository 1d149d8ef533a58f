/** Which pushes failed, and are they mended: the question and its answer. */
import type { Failures } from '../../protocol/failures';
import { EXTERNAL_ID, REQUEST_ID } from './moment';

export const FAILURES_QUESTION = {
  from: '2026-11-20T00:00:00',
  to: '2026-11-21T00:00:00',
  reason: ['VALIDATION_FAILED', 'UNKNOWN_USER'],
};

const MENDED_ID = '6b01a7d2000012f4377b7ed1';

export const FAILURES: Failures = {
  totals: { pushes: 3, matters: 2, stillFailed: 1 },
  groups: [
    {
      reason: 'VALIDATION_FAILED',
      field: 'parties[].username',
      pushes: 2,
      matters: 1,
      stillFailed: 0,
      firstSeen: '2026-11-20T02:11:00.000Z',
      lastSeen: '2026-11-20T02:11:04.310Z',
      samples: [{ requestId: REQUEST_ID, externalId: EXTERNAL_ID }],
    },
    {
      reason: 'VALIDATION_FAILED',
      field: 'title',
      pushes: 1,
      matters: 1,
      stillFailed: 1,
      firstSeen: '2026-11-20T01:00:07.512Z',
      lastSeen: '2026-11-20T01:00:07.512Z',
      samples: [{ requestId: '6b01a201c4a79446377b7ed0', externalId: 'PR-2026-002' }],
    },
  ],
  moreGroups: 0,
  rows: [
    {
      requestId: REQUEST_ID,
      clientId: 'oa',
      operation: 'upsert',
      externalId: EXTERNAL_ID,
      idempotencyKey: 'PR-2026-001/created',
      reason: 'VALIDATION_FAILED',
      fields: ['parties[].username'],
      failures: 2,
      refusedBatch: false,
      firstSeen: '2026-11-20T02:11:00.000Z',
      lastSeen: '2026-11-20T02:11:04.310Z',
      mended: { requestId: MENDED_ID, at: '2026-11-20T03:02:10.018Z', outcome: 'CREATED' },
    },
    {
      requestId: '6b01a201c4a79446377b7ed0',
      clientId: 'oa',
      operation: 'upsert',
      externalId: 'PR-2026-002',
      idempotencyKey: null,
      reason: 'VALIDATION_FAILED',
      fields: ['title'],
      failures: 1,
      refusedBatch: false,
      firstSeen: '2026-11-20T01:00:07.512Z',
      lastSeen: '2026-11-20T01:00:07.512Z',
      mended: null,
    },
  ],
  refusedBatches: 0,
  notRecorded: 0,
  complete: true,
  nextCursor: null,
  keptSince: '2026-10-22T13:52:01.570Z',
};
