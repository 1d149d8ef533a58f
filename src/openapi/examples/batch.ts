/** A batch of two lines, and what it is answered. */
import type { BatchData, VerifiedBatch } from '../../protocol/batch';
import { EXTERNAL_ID, MATTER_ID, REQUEST_ID } from './moment';
import { NOTICE, NOTICE_ANSWER, PUSHES } from './pushes';

export const BATCH_LINES: readonly object[] = [
  { op: 'upsert', body: PUSHES.upsert, key: 'PR-2026-001 v7' },
  { op: 'upsert', body: NOTICE },
];

const done = { code: 0, message: 'success' } as const;

export const BATCH_ANSWER: BatchData = {
  total: 2,
  succeeded: 2,
  failed: 0,
  results: [
    {
      ...{ line: 1, ...done, requestId: REQUEST_ID },
      ...{ externalId: EXTERNAL_ID, matterId: MATTER_ID, outcome: 'CREATED' },
    },
    { line: 2, ...done, requestId: REQUEST_ID.replace(/.$/, 'e'), ...NOTICE_ANSWER },
  ],
};

/** The same where the second line failed. */
export const PARTIAL_ANSWER: BatchData = {
  total: 2,
  succeeded: 1,
  failed: 1,
  results: [
    ...BATCH_ANSWER.results.slice(0, 1),
    {
      ...{ line: 2, code: 400, message: '请求参数校验失败', reason: 'VALIDATION_FAILED' },
      ...{ retryable: false, requestId: REQUEST_ID.replace(/.$/, 'e'), externalId: null },
      errors: [{ field: 'title', message: '不能为空' }],
    },
  ],
};

export const VERIFY_BATCH_ANSWER: VerifiedBatch = {
  total: 2,
  succeeded: 2,
  failed: 0,
  results: [
    { line: 1, ...done, externalId: EXTERNAL_ID },
    { line: 2, ...done, externalId: null },
  ],
};
