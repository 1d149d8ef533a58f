/** Domain values for tests: complete and valid, with what a test is about laid over them. */
import type { DecisionContext } from '../../src/domain/decide';
import type { Matter, Party, PartyRef, PartyRole } from '../../src/domain/matter';
import type { Delete, Reopen, Status, Upsert } from '../../src/domain/operation';
import type { PushMessage } from '../../src/queue/records';
import type { KnownClient } from '../../src/storage/directory';

/** 2024-06-01T00:00:00Z, the "now" of the tests. */
export const NOW = 1_717_200_000_000;

export const aRef = (username: string, partyRole: PartyRole = 'ASSIGNEE'): PartyRef => ({
  username,
  partyRole,
});

/** A party who has read the matter, unless said otherwise. */
export const aParty = (username: string, partyRole: PartyRole, unread = false): Party => ({
  username,
  partyRole,
  displayName: `name of ${username}`,
  unread,
});

export const aMatter = (over: Partial<Matter> = {}): Matter => ({
  matterId: 7n,
  systemCode: 'OA',
  externalId: 'A-1',
  matterType: 'TODO',
  title: 'old title',
  summary: null,
  content: null,
  pcUrl: null,
  mobileUrl: null,
  bizType: null,
  priority: null,
  deadlineAt: null,
  initiatorExtId: null,
  initiatorUsername: null,
  externalStatusCode: null,
  externalStatusLabel: null,
  payloadJson: null,
  bizStatus: 'PENDING',
  phase: 'OPEN',
  priorityRank: 1,
  parties: [],
  pastHandlers: [],
  sourceUpdatedAt: null,
  deleted: false,
  createdAt: NOW - 60_000,
  updatedAt: NOW - 30_000,
  deletedAt: null,
  revision: 5,
  ...over,
});

/** A matter in which fields that may be null have a value. */
export const aFullMatter = (): Matter =>
  aMatter({
    summary: 's',
    deadlineAt: NOW,
    sourceUpdatedAt: NOW,
    deletedAt: NOW,
    parties: [aParty('li', 'CC')],
  });

export const anUpsert = (over: Partial<Upsert> = {}): Upsert => ({
  op: 'upsert',
  matterType: 'TODO',
  title: 'new title',
  content: {},
  replaceParties: false,
  assignedId: false,
  ...over,
});

export const aStatus = (over: Partial<Status> = {}): Status => ({
  op: 'status',
  resetAssigneeUnread: false,
  ...over,
});

export const aReopen = (over: Partial<Reopen> = {}): Reopen => ({
  op: 'reopen',
  resetAssigneeUnread: true,
  ...over,
});

export const aDelete = (over: Partial<Delete> = {}): Delete => ({ op: 'delete', ...over });

export const decisionContext = (over: Partial<DecisionContext> = {}): DecisionContext => ({
  systemCode: 'OA',
  externalId: 'A-1',
  now: NOW,
  newMatterId: 99n,
  names: new Map(),
  concluded: new Set(['DONE', 'APPROVED']),
  ...over,
});

export const aPush = (over: Partial<PushMessage> = {}): PushMessage => ({
  id: '0123456789abcdef01234567',
  clientId: 'demo-oa',
  systemCode: 'OA',
  externalId: 'A-1',
  operation: anUpsert(),
  replyTo: 'web-1',
  bodyHash: 'hash',
  ...over,
});

export const aClient = (over: Partial<KnownClient> = {}): KnownClient => ({
  ...{ clientId: 'oa', type: 'CONFIDENTIAL', enabled: true, systemCode: 'OA' },
  secrets: [{ id: 'one', secret: 'secret' }],
  ...over,
});
