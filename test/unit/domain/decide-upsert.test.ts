/** An upsert creates with defaults, and patches what it names (contract 4.1). */
import { decide } from '../../../src/domain/decide';
import type { Matter, MatterContent } from '../../../src/domain/matter';
import type { Upsert } from '../../../src/domain/operation';
import { aMatter, anUpsert, aParty, aRef, decisionContext, NOW } from '../../support/builders';

function applied(before: Matter | undefined, upsert: Upsert, context = decisionContext()): Matter {
  const decision = decide(before, upsert, context);
  if (decision.kind !== 'accepted') throw new Error(`rejected: ${decision.reason}`);
  return decision.matter;
}

const CONTENT: MatterContent = {
  summary: 'summary',
  content: 'content',
  pcUrl: 'https://portal/pc',
  mobileUrl: 'https://portal/m',
  bizType: 'leave',
  priority: 'HIGH',
  deadlineAt: 1_800_000_000_000,
  initiatorExtId: 'ext-1',
  initiatorUsername: 'li',
  externalStatusCode: '10',
  externalStatusLabel: 'under review',
  payloadJson: '{"a":1}',
};
const CLEARED = Object.fromEntries(Object.keys(CONTENT).map((name) => [name, null]));

test('a new matter is PENDING and open, everything that was not sent is null', () => {
  expect(applied(undefined, anUpsert())).toEqual({
    ...CLEARED,
    matterId: 99n,
    systemCode: 'OA',
    externalId: 'A-1',
    matterType: 'TODO',
    title: 'new title',
    bizStatus: 'PENDING',
    phase: 'OPEN',
    priorityRank: 1,
    parties: [],
    pastHandlers: [],
    sourceUpdatedAt: null,
    deleted: false,
    createdAt: NOW,
    updatedAt: NOW,
    deletedAt: null,
    revision: 1,
  });
});

test('a draft is created as a draft', () => {
  const draft = applied(undefined, anUpsert({ bizStatus: 'DRAFT' }));
  expect(draft).toMatchObject({ bizStatus: 'DRAFT', phase: 'DRAFT' });
});

test.each(Object.entries(CONTENT))('%s: sent is set, absent stays, null clears', (name, value) => {
  const set = applied(aMatter(), anUpsert({ content: { [name]: value } }));
  expect(set).toMatchObject({ ...CLEARED, [name]: value });
  const full = aMatter(CONTENT);
  expect(applied(full, anUpsert())).toMatchObject(CONTENT);
  const cleared = applied(full, anUpsert({ content: { [name]: null } }));
  expect(cleared).toMatchObject({ ...CONTENT, [name]: null });
});

test('matterType and title follow the last upsert, the status stays without one', () => {
  const before = aMatter({ bizStatus: 'PROCESSING' });
  const after = applied(before, anUpsert({ matterType: 'NOTICE', title: 'other' }));
  expect(after).toMatchObject({ matterType: 'NOTICE', title: 'other', bizStatus: 'PROCESSING' });
});

test('an update moves updatedAt and leaves createdAt', () => {
  const { createdAt, updatedAt } = applied(aMatter({ createdAt: 1, updatedAt: 2 }), anUpsert());
  expect({ createdAt, updatedAt }).toEqual({ createdAt: 1, updatedAt: NOW });
});

test.each([
  ['LOW', 0],
  ['NORMAL', 1],
  ['HIGH', 2],
  ['URGENT', 3],
  ['urgent', 1],
  ['P0', 1],
  ['constructor', 1],
  ['__proto__', 1],
  [null, 1],
])('priority %s ranks as %i', (priority, rank) => {
  const before = aMatter({ priority: 'URGENT', priorityRank: 3 });
  const after = applied(before, anUpsert({ content: { priority } }));
  expect(after).toMatchObject({ priority, priorityRank: rank });
});

test.each([
  ['DRAFT', 'DRAFT'],
  ['PENDING', 'OPEN'],
  ['REOPENED', 'OPEN'],
  ['NOBODY_KNOWS', 'OPEN'],
  ['DONE', 'CONCLUDED'],
  ['APPROVED', 'CONCLUDED'],
])('bizStatus %s puts the matter among the %s', (bizStatus, phase) => {
  expect(applied(aMatter(), anUpsert({ bizStatus }))).toMatchObject({ bizStatus, phase });
});

test('which statuses conclude is a setting', () => {
  const concluded = new Set(['ARCHIVED']);
  const after = applied(
    aMatter(),
    anUpsert({ bizStatus: 'ARCHIVED' }),
    decisionContext({ concluded }),
  );
  expect(after.phase).toBe('CONCLUDED');
});

test('revival clears the deletion and keeps id, parties and past handlers', () => {
  const parties = [aParty('li', 'ASSIGNEE')];
  const gone = aMatter({ deleted: true, deletedAt: 3, parties, pastHandlers: ['sun'] });
  expect(applied(gone, anUpsert())).toMatchObject({
    matterId: 7n,
    deleted: false,
    deletedAt: null,
    parties,
    pastHandlers: ['sun'],
  });
});

test("a caller's own id may not start with auto:, but an id that the service gave can be used", () => {
  const auto = decisionContext({ externalId: 'auto:1f' });
  const rejected = { kind: 'rejected', reason: 'EXTERNAL_ID_RESERVED' };
  expect(decide(undefined, anUpsert(), auto)).toEqual(rejected);
  expect(decide(undefined, anUpsert({ assignedId: true }), auto)).toMatchObject({
    outcome: 'CREATED',
  });
  const known = aMatter({ externalId: 'auto:1f' });
  expect(decide(known, anUpsert(), auto)).toMatchObject({ outcome: 'UPDATED' });
  const gone = aMatter({ externalId: 'auto:1f', deleted: true, phase: 'DELETED' });
  expect(decide(gone, anUpsert(), auto)).toMatchObject({ outcome: 'REVIVED' });
});

test('merging may fill the list to 500 parties, and is rejected beyond', () => {
  const parties = Array.from({ length: 499 }, (_, n) => aParty(`u${n}`, 'CC'));
  const before = aMatter({ parties });
  expect(applied(before, anUpsert({ parties: [aRef('new1')] })).parties).toHaveLength(500);
  const two = anUpsert({ parties: [aRef('new1'), aRef('new2')] });
  expect(decide(before, two, decisionContext())).toEqual({
    kind: 'rejected',
    reason: 'TOO_MANY_PARTIES',
  });
  const known = anUpsert({ parties: [aRef('new1'), aRef('u1', 'CC')] });
  expect(applied(before, known).parties).toHaveLength(500);
});

test('a stale upsert changes no party either', () => {
  const parties = [aParty('li', 'ASSIGNEE')];
  const before = aMatter({ sourceUpdatedAt: 2000, parties });
  const stale = anUpsert({ sourceUpdatedAt: 1000, replaceParties: true, parties: [] });
  expect(applied(before, stale).parties).toEqual(parties);
  const removing = anUpsert({ sourceUpdatedAt: 1000, removeParties: [{ username: 'li' }] });
  expect(applied(before, removing)).toBe(before);
});

test('parties are removed after others were merged: the list may be full before', () => {
  const parties = Array.from({ length: 500 }, (_, n) => aParty(`u${n}`, 'ASSIGNEE'));
  const before = aMatter({ parties });
  const swapped = anUpsert({
    parties: [aRef('new', 'CC')],
    removeParties: [{ username: 'u0' }, { username: 'u1', partyRole: 'CC' }],
  });
  const after = applied(before, swapped);
  expect(after.parties).toHaveLength(500);
  expect(after.parties.map(({ username }) => username)).toEqual([
    ...parties.slice(1).map(({ username }) => username),
    'new',
  ]);
  expect(after.pastHandlers).toEqual(['u0']);
});

test('an upsert that removes parties of a new matter creates it without them', () => {
  const removing = anUpsert({ parties: [aRef('li')], removeParties: [{ username: 'wang' }] });
  expect(applied(undefined, removing)).toMatchObject({
    parties: [{ username: 'li' }],
    pastHandlers: [],
  });
});

test('pushing the same again is answered UPDATED and leaves no trace', () => {
  const same = anUpsert({
    content: { summary: 's' },
    parties: [aRef('li')],
    replaceParties: true,
    sourceUpdatedAt: 2000,
  });
  const before = applied(aMatter(), same);
  const again = decide(before, same, decisionContext({ now: NOW + 1 }));
  expect(again).toMatchObject({ kind: 'accepted', outcome: 'UPDATED' });
  expect(again.kind === 'accepted' && again.matter === before).toBe(true);
  expect(applied(before, { ...same, sourceUpdatedAt: 2001 }).revision).toBe(before.revision + 1);
});
