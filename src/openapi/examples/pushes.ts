/** A push of each operation, and what it is answered. */

import type { Outcome } from '../../domain/decide';
import type { OperationName } from '../../domain/operation';
import type { PushData, Verified } from '../../protocol/envelope';
import { EXTERNAL_ID, MATTER_ID } from './moment';

export const PUSHES: Readonly<Record<OperationName, object>> = {
  upsert: {
    matterType: 'TODO',
    externalId: EXTERNAL_ID,
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
    externalId: EXTERNAL_ID,
    bizStatus: 'APPROVED',
    externalStatusCode: '20',
    externalStatusLabel: '已同意',
    sourceUpdatedAt: 1795269300,
  },
  reopen: { externalId: EXTERNAL_ID, sourceUpdatedAt: 1795269400 },
  delete: { externalId: EXTERNAL_ID },
};

const answer = (outcome: Outcome): PushData => ({
  matterId: MATTER_ID,
  externalId: EXTERNAL_ID,
  outcome,
});

export const PUSH_ANSWERS: Readonly<Record<OperationName, PushData>> = {
  upsert: answer('CREATED'),
  status: answer('UPDATED'),
  reopen: answer('UPDATED'),
  delete: answer('DELETED'),
};

/** The dry run of one of them. */
export const VERIFICATION = { operation: 'upsert', push: PUSHES.upsert };
export const VERIFIED: Verified = { valid: true, externalId: EXTERNAL_ID, warnings: [] };

/** What the service may say of an upsert besides. */
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
