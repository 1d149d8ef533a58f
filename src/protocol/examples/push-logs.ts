/** Examples of the push-log queries and of their answers. */
import type { Failures } from '../failures';
import type { LogPage } from '../log-page';
import type { PushStats } from '../push-stats';
import type { ResendData } from '../resend';
import { EXAMPLE_EXTERNAL_ID, EXAMPLE_MATTER_ID, EXAMPLE_REQUEST_ID } from './request';

export const LOG_PAGE: LogPage = {
  entries: [
    {
      requestId: EXAMPLE_REQUEST_ID,
      clientId: 'oa',
      systemCode: 'OA',
      operation: 'upsert',
      externalId: EXAMPLE_EXTERNAL_ID,
      idempotencyKey: 'PR-2026-001/created',
      attempt: 1,
      batchId: null,
      batchLine: null,
      bodyHash: '186dc8fc0e242063ee83710c5ce2c5494195a0143e97b62390e39c9159bab58f',
      bodySize: 342,
      secretId: 's1',
      receivedAt: '2026-11-21T13:52:01.570Z',
      deadlineAt: '2026-11-21T13:52:11.570Z',
      queuedAt: '2026-11-21T13:52:01.575Z',
      startedAt: '2026-11-21T13:52:01.577Z',
      settledAt: '2026-11-21T13:52:01.586Z',
      state: 'PERSISTED',
      outcome: 'CREATED',
      reason: null,
      problems: [],
      warnings: [],
      stale: null,
      matterId: EXAMPLE_MATTER_ID,
      revision: 1,
      changes: [
        {
          field: 'bizStatus',
          to: 'PENDING',
        },
        {
          field: 'title',
        },
        {
          field: 'parties',
          added: ['ASSIGNEE li.lei'],
        },
      ],
      duplicateOf: null,
      resentFrom: null,
      mark: null,
      traceId: null,
    },
  ],
  nextCursor: null,
  notRecorded: 0,
  count: {
    value: 1,
    exact: true,
  },
};

export const FAILURES_BODY = {
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
      samples: [{ requestId: EXAMPLE_REQUEST_ID, externalId: EXAMPLE_EXTERNAL_ID }],
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
      requestId: EXAMPLE_REQUEST_ID,
      clientId: 'oa',
      operation: 'upsert',
      externalId: EXAMPLE_EXTERNAL_ID,
      idempotencyKey: 'PR-2026-001/created',
      reason: 'VALIDATION_FAILED',
      fields: ['parties[].username'],
      problems: [{ field: 'parties[0].username', message: '用户不存在或已停用: zhang.san' }],
      cause: null,
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
      problems: [{ field: 'title', message: '不能为空' }],
      cause: null,
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

const HOUR = { start: '2026-11-21T01:00:00.000Z', operation: 'upsert', notRecorded: 0 } as const;

export const STATS: PushStats = {
  timeZone: 'Asia/Shanghai',
  by: 'hour',
  from: '2026-11-20T16:00:00.000Z',
  to: '2026-11-21T16:00:00.000Z',
  total: { pushes: 55582, succeeded: 55483, failed: 99, notRecorded: 0, p50Ms: 21, p95Ms: 48 },
  rows: [
    { ...HOUR, outcome: 'CREATED', reason: null, pushes: 55483, p50Ms: 21, p95Ms: 48 },
    { ...HOUR, outcome: null, reason: 'VALIDATION_FAILED', pushes: 99, p50Ms: 9, p95Ms: 16 },
  ],
  complete: true,
};

const FAILED_ID = EXAMPLE_REQUEST_ID.replace(/^6b01a2/, '6b01a1');
export const RESEND_BODY = { requestIds: [FAILED_ID], dryRun: false };
export const RESEND_ANSWER: ResendData = {
  total: 1,
  succeeded: 1,
  failed: 0,
  results: [
    {
      ...{ line: 1, code: 0, message: 'success', requestId: EXAMPLE_REQUEST_ID },
      ...{ externalId: EXAMPLE_EXTERNAL_ID, matterId: EXAMPLE_MATTER_ID, outcome: 'UPDATED' },
      ...{ resentFrom: FAILED_ID, sent: true },
    },
  ],
};
