/** A question of each kind, and what it is answered. */

import { Types } from 'mongoose';
import type { ChangesPage, GotMatters, MatterDiff, MatterDigest } from '../../protocol/comparison';
import type { LogPage } from '../../protocol/log-page';
import type { MatterView, OrphanCount, OrphanView } from '../../protocol/matter-view';
import type { QueryName } from '../../protocol/paths';
import { toEntryView } from '../../queries/presenters/entry';
import type { LogEntry } from '../../storage/push-log/entry-model';
import { FAILURES, FAILURES_QUESTION } from './failures';
import { EXTERNAL_ID, MATTER_ID, REQUEST_ID } from './moment';
import { CHECKED_USERS, CLIENT_SELF, USERS_CHECK } from './self';
import { STATS } from './stats';

export const QUESTIONS: Readonly<Record<QueryName, object>> = {
  'push-logs/query': {
    externalId: EXTERNAL_ID,
    from: '2026-11-21T00:00:00',
    limit: 50,
    count: true,
  },
  'push-logs/failures': FAILURES_QUESTION,
  'push-logs/stats': { from: '2026-11-21T00:00:00', to: '2026-11-22T00:00:00', by: 'hour' },
  'matters/get': { externalIds: [EXTERNAL_ID, 'PR-2026-002'] },
  'matters/query': { updatedFrom: '2026-11-21T13:00:00Z', limit: 100 },
  'matters/diff': {
    lines: [
      { externalId: EXTERNAL_ID, bizStatus: 'APPROVED', sourceUpdatedAt: 1795269300 },
      { externalId: 'PR-2026-002' },
    ],
  },
  'matters/digest': { fromDay: '2026-11-01', toDay: '2026-11-30', open: true },
  'users/check': USERS_CHECK,
  'clients/me': {},
};

const MATTER: MatterView = {
  systemCode: 'OA',
  externalId: EXTERNAL_ID,
  matterId: MATTER_ID,
  matterType: 'TODO',
  title: '审批：采购申请',
  summary: null,
  content: null,
  pcUrl: 'https://oa.example.com/requests/1',
  mobileUrl: null,
  bizType: 'purchase',
  priority: 'HIGH',
  bizStatus: 'PENDING',
  phase: 'OPEN',
  deadlineAt: '2026-11-30T18:00:00',
  initiatorExtId: null,
  initiatorUsername: 'han.meimei',
  externalStatusCode: null,
  externalStatusLabel: null,
  sourceUpdatedAt: '2026-11-21T13:52:00.000Z',
  payloadJson: null,
  parties: [{ username: 'li.lei', partyRole: 'ASSIGNEE', displayName: '李雷', unread: true }],
  deleted: false,
  deletedAt: null,
  createdAt: '2026-11-21T13:52:01.580Z',
  updatedAt: '2026-11-21T13:52:01.580Z',
  revision: 1,
};

const ENTRY: LogEntry = {
  _id: new Types.ObjectId(REQUEST_ID),
  clientId: 'oa',
  systemCode: 'OA',
  operation: 'upsert',
  externalId: EXTERNAL_ID,
  idempotencyKey: 'PR-2026-001/created',
  bodyHash: '186dc8fc0e242063ee83710c5ce2c5494195a0143e97b62390e39c9159bab58f',
  bodySize: 342,
  secretId: 's1',
  receivedAt: new Date('2026-11-21T13:52:01.570Z'),
  deadlineAt: new Date('2026-11-21T13:52:11.570Z'),
  queuedAt: new Date('2026-11-21T13:52:01.575Z'),
  startedAt: new Date('2026-11-21T13:52:01.577Z'),
  settledAt: new Date('2026-11-21T13:52:01.586Z'),
  state: 'PERSISTED',
  result: 'CREATED',
  matterId: BigInt(MATTER_ID),
  revision: 1,
  changes: [
    { field: 'bizStatus', to: 'PENDING' },
    { field: 'title' },
    { field: 'parties', added: ['ASSIGNEE li.lei'] },
  ],
};
const ENTRIES: LogPage = {
  entries: [toEntryView(ENTRY, 1, 'en')],
  nextCursor: null,
  notRecorded: 0,
  count: { value: 1, exact: true },
};
const GOT: GotMatters = { matters: [MATTER], missing: ['PR-2026-002'] };
const CHANGES: ChangesPage = {
  matters: [MATTER],
  nextCursor: null,
  watermark: '2026-11-21T13:51:31.570Z',
};
const { bizStatus, externalStatusCode, sourceUpdatedAt, deleted } = MATTER;
const DIFF: MatterDiff = {
  compared: 2,
  equal: 0,
  differences: [
    {
      externalId: EXTERNAL_ID,
      differences: ['STALE_HERE', 'STATUS_DIFFERS'],
      here: { matterId: MATTER_ID, bizStatus, externalStatusCode, sourceUpdatedAt, deleted },
    },
    { externalId: 'PR-2026-002', differences: ['MISSING'], here: null },
  ],
};
const DIGEST: MatterDigest = {
  timeZone: 'Asia/Shanghai',
  total: { count: 1, hash: '4b7a3e5d90c1f286' },
  buckets: [{ bizType: 'purchase', day: '2026-11-21', count: 1, hash: '4b7a3e5d90c1f286' }],
};

export const QUERY_ANSWERS: Readonly<Record<QueryName, object>> = {
  'push-logs/query': ENTRIES,
  'push-logs/failures': FAILURES,
  'push-logs/stats': STATS,
  'matters/get': GOT,
  'matters/query': CHANGES,
  'matters/diff': DIFF,
  'matters/digest': DIGEST,
  'users/check': CHECKED_USERS,
  'clients/me': CLIENT_SELF,
};

export const ORPHAN: OrphanView = {
  externalId: 'PR-2025-977',
  matterId: '361204884385800001',
  matterType: 'TODO',
  title: '审批：差旅报销',
  bizType: 'travel',
  bizStatus: 'PENDING',
  phase: 'OPEN',
  sourceUpdatedAt: '2025-12-30T02:11:00.000Z',
  updatedAt: '2025-12-30T02:11:00.412Z',
};
export const ORPHAN_COUNT: OrphanCount = { listed: 2, open: 2, orphans: 1 };
