/** Examples of pushes, batches and their answers. */

import type { Outcome } from '../../domain/decide';
import type { OperationName } from '../../domain/operation';
import type { BatchData, VerifiedBatch } from '../batch';
import type { PushData, Verified } from '../push-data';
import { EXAMPLE_EXTERNAL_ID, EXAMPLE_MATTER_ID, EXAMPLE_REQUEST_ID } from './request';

export const PUSHES: Readonly<Record<OperationName, object>> = {
  upsert: {
    matterType: 'TODO',
    externalId: EXAMPLE_EXTERNAL_ID,
    title: '审批：采购申请',
    pcUrl: 'https://oa.example.com/requests/1',
    bizType: 'purchase',
    priority: 'HIGH',
    deadlineAt: '2026-11-30T18:00:00',
    initiatorUsername: 'han.meimei',
    sourceUpdatedAt: '2026-11-21T21:52:00+08:00',
    parties: [{ username: 'li.lei', partyRole: 'ASSIGNEE' }],
  },
  status: {
    externalId: EXAMPLE_EXTERNAL_ID,
    bizStatus: 'APPROVED',
    externalStatusCode: '20',
    externalStatusLabel: '已同意',
    sourceUpdatedAt: 1795269300,
  },
  reopen: { externalId: EXAMPLE_EXTERNAL_ID, sourceUpdatedAt: 1795269400 },
  delete: { externalId: EXAMPLE_EXTERNAL_ID },
};

const answer = (outcome: Outcome): PushData => ({
  matterId: EXAMPLE_MATTER_ID,
  externalId: EXAMPLE_EXTERNAL_ID,
  outcome,
});

export const PUSH_ANSWERS: Readonly<Record<OperationName, PushData>> = {
  upsert: answer('CREATED'),
  status: answer('UPDATED'),
  reopen: answer('UPDATED'),
  delete: answer('DELETED'),
};

export const VERIFICATION = { operation: 'upsert', push: PUSHES.upsert };
export const VERIFIED: Verified = { valid: true, externalId: EXAMPLE_EXTERNAL_ID, warnings: [] };

export const NOTICE = {
  matterType: 'NOTICE',
  title: '系统将于今晚维护',
  bizStatus: 'PUBLISHED',
};
export const NOTICE_ANSWER: PushData = {
  matterId: '382528584385822721',
  externalId: 'auto:0f4c6b1d2a3e5f60718293a4b5c6d7e8',
  outcome: 'CREATED',
  warnings: [
    {
      field: 'bizStatus',
      message: 'PUBLISHED 不是标准状态，按未办结处理',
      kind: 'UNKNOWN_STATUS',
    },
  ],
};

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
      ...{ line: 1, ...done, requestId: EXAMPLE_REQUEST_ID },
      ...{ externalId: EXAMPLE_EXTERNAL_ID, matterId: EXAMPLE_MATTER_ID, outcome: 'CREATED' },
    },
    { line: 2, ...done, requestId: EXAMPLE_REQUEST_ID.replace(/.$/, 'e'), ...NOTICE_ANSWER },
  ],
};

/** The answer to BATCH_LINES if the second line fails. */
export const PARTIAL_ANSWER: BatchData = {
  total: 2,
  succeeded: 1,
  failed: 1,
  results: [
    ...BATCH_ANSWER.results.slice(0, 1),
    {
      ...{ line: 2, code: 400, message: '请求参数校验失败', reason: 'VALIDATION_FAILED' },
      ...{ retryable: false, requestId: EXAMPLE_REQUEST_ID.replace(/.$/, 'e'), externalId: null },
      errors: [{ field: 'title', message: '不能为空' }],
    },
  ],
};

export const VERIFY_BATCH_ANSWER: VerifiedBatch = {
  total: 2,
  succeeded: 2,
  failed: 0,
  results: [
    { line: 1, ...done, externalId: EXAMPLE_EXTERNAL_ID },
    { line: 2, ...done, externalId: null },
  ],
};
