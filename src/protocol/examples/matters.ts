/** Examples of the queries about matters, and of the answers. */
import type { ChangesPage, GotMatters, MatterDiff, MatterDigest } from '../matter-answers';
import type { MatterView, OrphanCount, OrphanView } from '../matter-view';
import { EXAMPLE_EXTERNAL_ID, EXAMPLE_MATTER_ID } from './request';

const MATTER: MatterView = {
  systemCode: 'OA',
  externalId: EXAMPLE_EXTERNAL_ID,
  matterId: EXAMPLE_MATTER_ID,
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

export const GOT: GotMatters = { matters: [MATTER], missing: ['PR-2026-002'] };
export const CHANGES: ChangesPage = {
  matters: [MATTER],
  nextCursor: null,
  watermark: '2026-11-21T13:51:31.570Z',
};
const { bizStatus, externalStatusCode, sourceUpdatedAt, deleted } = MATTER;
export const DIFF_BODY = {
  lines: [
    { externalId: EXAMPLE_EXTERNAL_ID, bizStatus: 'APPROVED', sourceUpdatedAt: 1795269300 },
    { externalId: 'PR-2026-002' },
  ],
};
export const DIFF: MatterDiff = {
  compared: 2,
  equal: 0,
  differences: [
    {
      externalId: EXAMPLE_EXTERNAL_ID,
      differences: ['STALE_HERE', 'STATUS_DIFFERS'],
      here: {
        matterId: EXAMPLE_MATTER_ID,
        bizStatus,
        externalStatusCode,
        sourceUpdatedAt,
        deleted,
      },
    },
    { externalId: 'PR-2026-002', differences: ['MISSING'], here: null },
  ],
};
export const DIGEST_ANSWER: MatterDigest = {
  timeZone: 'Asia/Shanghai',
  total: { count: 1, hash: '4b7a3e5d90c1f286' },
  buckets: [{ bizType: 'purchase', day: '2026-11-21', count: 1, hash: '4b7a3e5d90c1f286' }],
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
