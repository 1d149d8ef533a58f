/** The small fixed ledger of the golden tests: pushes that are the same every time. */
import { type Body, todo } from './push-bodies';

/** A push with every field. */
export const FULL: Body = {
  matterType: 'TODO',
  externalId: 'G-1',
  title: '报销单',
  summary: 'summary',
  content: 'content',
  pcUrl: 'https://example.com/pc/1',
  mobileUrl: 'https://example.com/mobile/1',
  bizType: 'expense',
  priority: 'HIGH',
  deadlineAt: '2030-01-31T18:00:00',
  initiatorExtId: 'E-1',
  initiatorUsername: 'alice',
  externalStatusCode: 'NEW',
  externalStatusLabel: '新建',
  payloadJson: '{"amount":1}',
  bizStatus: 'PENDING',
  sourceUpdatedAt: '2024-06-01T08:00:00Z',
  parties: [
    { username: 'alice', partyRole: 'ASSIGNEE' },
    { username: 'bob', partyRole: 'CC' },
  ],
};

/** The TODO of an expense. */
export const expense = (externalId: string, more: Body = {}): Body =>
  todo(externalId, { title: `title of ${externalId}`, bizType: 'expense', ...more });

/** One after the other; named after what becomes of each. */
export const PUSHES: readonly (readonly [string, string, Body, string?])[] = [
  ['upsert CREATED', 'upsert', FULL, 'G-1/1'],
  ['upsert REPLAYED', 'upsert', FULL, 'G-1/1'],
  [
    'upsert UPDATED',
    'upsert',
    { ...FULL, title: '报销单 2', sourceUpdatedAt: '2024-06-02T08:00:00Z' },
  ],
  ['upsert STALE', 'upsert', { ...FULL, title: 'older' }],
  ['upsert with warnings', 'upsert', expense('G-2', { partys: [], bizStatus: 'ODD' })],
  [
    'status',
    'status',
    { externalId: 'G-1', bizStatus: 'DONE', sourceUpdatedAt: '2024-06-03T08:00:00Z' },
  ],
  ['reopen', 'reopen', { externalId: 'G-1', sourceUpdatedAt: '2024-06-04T08:00:00Z' }],
  ['upsert of another', 'upsert', expense('G-3')],
  ['delete', 'delete', { externalId: 'G-3' }],
];
