/** Status, reopen and delete in detail (contract 4.2 to 4.4). */
import { decide } from '../../../src/domain/decide';
import type { Matter } from '../../../src/domain/matter';
import type { Operation } from '../../../src/domain/operation';
import {
  aDelete,
  aMatter,
  anUpsert,
  aParty,
  aReopen,
  aStatus,
  decisionContext,
  NOW,
} from '../../support/builders';

const before = aMatter({
  bizStatus: 'PROCESSING',
  externalStatusCode: '10',
  externalStatusLabel: 'ten',
  parties: [aParty('li', 'ASSIGNEE'), aParty('li', 'CC'), aParty('sun', 'RECIPIENT')],
});

function applied(op: Operation, matter: Matter = before): Matter {
  const decision = decide(matter, op, decisionContext());
  if (decision.kind !== 'accepted') throw new Error(`rejected: ${decision.reason}`);
  return decision.matter;
}

test.each([
  ['a status without bizStatus leaves it', aStatus(), 'PROCESSING'],
  ['a status sets bizStatus', aStatus({ bizStatus: 'DONE' }), 'DONE'],
  ['no transition is rejected', aStatus({ bizStatus: 'DRAFT' }), 'DRAFT'],
  ['a reopen without bizStatus sets REOPENED', aReopen(), 'REOPENED'],
  ['a reopen sets the bizStatus that it names', aReopen({ bizStatus: 'PENDING' }), 'PENDING'],
])('%s', (_, op, bizStatus) => {
  expect(applied(op).bizStatus).toBe(bizStatus);
});

test.each([
  ['absent, both stay', {}, '10', 'ten'],
  ['the code alone', { externalStatusCode: '20' }, '20', 'ten'],
  ['the label alone', { externalStatusLabel: 'twenty' }, '10', 'twenty'],
  ['null clears', { externalStatusCode: null, externalStatusLabel: null }, null, null],
])('the original status is set apart from bizStatus: %s', (_, sent, code, label) => {
  for (const op of [aStatus(sent), aReopen(sent)]) {
    const { externalStatusCode, externalStatusLabel } = applied(op);
    expect([externalStatusCode, externalStatusLabel]).toEqual([code, label]);
  }
  expect(applied(aStatus(sent)).bizStatus).toBe('PROCESSING');
});

test.each([
  ['status with reset', aStatus({ resetAssigneeUnread: true }), ['li ASSIGNEE']],
  ['status without', aStatus({ resetAssigneeUnread: false }), []],
  ['reopen with reset', aReopen({ resetAssigneeUnread: true }), ['li ASSIGNEE']],
  ['reopen without', aReopen({ resetAssigneeUnread: false }), []],
])('only handlers become unread again: %s', (_, op, unread) => {
  const { parties } = applied(op);
  const now = parties.filter((p) => p.unread).map((p) => `${p.username} ${p.partyRole}`);
  expect(now).toEqual(unread);
  expect(parties.map((p) => p.username)).toEqual(['li', 'li', 'sun']);
});

test.each([
  ['all roles of a user', [{ username: 'li' }], ['sun RECIPIENT'], ['li']],
  [
    'one role',
    [{ username: 'li', partyRole: 'CC' as const }],
    ['li ASSIGNEE', 'sun RECIPIENT'],
    [],
  ],
  ['several users', [{ username: 'li' }, { username: 'sun' }], [], ['li']],
])('a status removes %s; a former handler keeps the matter', (_, removeParties, left, past) => {
  const { parties, pastHandlers, bizStatus } = applied(aStatus({ removeParties }));
  expect(parties.map((p) => `${p.username} ${p.partyRole}`)).toEqual(left);
  expect({ pastHandlers, bizStatus }).toEqual({ pastHandlers: past, bizStatus: 'PROCESSING' });
});

test('who remains keeps the read state, and only handlers that remain are reset', () => {
  const parties = [aParty('li', 'ASSIGNEE'), aParty('wang', 'ASSIGNEE'), aParty('sun', 'CC', true)];
  const removeParties = [{ username: 'li' }];
  const removed = applied(aStatus({ removeParties }), aMatter({ parties }));
  expect(removed.parties).toEqual(parties.slice(1));
  const reset = applied(
    aStatus({ removeParties, resetAssigneeUnread: true }),
    aMatter({ parties }),
  );
  expect(reset.parties.map(({ username, unread }) => [username, unread])).toEqual([
    ['wang', true],
    ['sun', true],
  ]);
  expect(reset.pastHandlers).toEqual(['li']);
});

test.each([
  ['an absent user', before, [{ username: 'wang' }]],
  ['an absent role', before, [{ username: 'sun', partyRole: 'CC' as const }]],
  ['nobody', before, []],
  ['anybody, of a matter without parties', aMatter(), [{ username: 'li' }]],
])('removing %s changes nothing', (_, matter, removeParties) => {
  expect(applied(aStatus({ removeParties }), matter)).toBe(matter);
});

test('a stale status removes nobody', () => {
  const newer = { ...before, sourceUpdatedAt: 2000 };
  const stale = aStatus({ sourceUpdatedAt: 1000, removeParties: [{ username: 'li' }] });
  expect(applied(stale, newer)).toBe(newer);
});

test('who is unread stays unread without a reset', () => {
  const unread = aMatter({ parties: [aParty('li', 'ASSIGNEE', true), aParty('sun', 'CC', true)] });
  expect(applied(aStatus({ bizStatus: 'DONE' }), unread).parties).toEqual(unread.parties);
});

test('a deletion is soft: the matter keeps all it had, and the time is noted', () => {
  const deleted = { deleted: true, deletedAt: NOW, phase: 'DELETED', updatedAt: NOW, revision: 6 };
  expect(applied(aDelete())).toEqual({ ...before, ...deleted });
});

test('a newer deletion moves the watermark, not the time of the first: nothing in between revives', () => {
  const gone = aMatter({ deleted: true, deletedAt: 3, phase: 'DELETED', sourceUpdatedAt: 1000 });
  const again = applied(aDelete({ sourceUpdatedAt: 3000 }), gone);
  expect(again).toMatchObject({ deleted: true, deletedAt: 3, sourceUpdatedAt: 3000 });
  const between = anUpsert({ sourceUpdatedAt: 2000 });
  expect(applied(between, again)).toBe(again);
});
