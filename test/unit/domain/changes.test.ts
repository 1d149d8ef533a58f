/** What the history of a matter says that a push changed. */
import { changesOf } from '../../../src/domain/changes';
import { decide } from '../../../src/domain/decide';
import { aMatter, anUpsert, aParty, aStatus, decisionContext, NOW } from '../../support/builders';

test('states and times are told with both values, texts only by name', () => {
  const before = aMatter({ bizStatus: 'PENDING', sourceUpdatedAt: null, content: 'salary' });
  const after = {
    ...before,
    bizStatus: 'DONE',
    sourceUpdatedAt: NOW,
    content: 'other',
    title: 't',
  };
  const changes = changesOf(before, after);
  expect(changes).toEqual([
    { field: 'bizStatus', from: 'PENDING', to: 'DONE' },
    { field: 'sourceUpdatedAt', from: null, to: new Date(NOW).toISOString() },
    { field: 'title' },
    { field: 'content' },
  ]);
  expect(JSON.stringify(changes)).not.toContain('salary');
});

test('of a new matter it tells what was set', () => {
  const created = decide(undefined, anUpsert({ content: { bizType: 'leave' } }), decisionContext());
  if (created.kind !== 'accepted') throw new Error('rejected');
  expect(changesOf(undefined, created.matter)).toEqual([
    { field: 'bizStatus', to: 'PENDING' },
    { field: 'matterType', to: 'TODO' },
    { field: 'bizType', to: 'leave' },
    { field: 'title' },
  ]);
});

test('it says who came, who went and for whom it is unread again', () => {
  const before = aMatter({ parties: [aParty('ann', 'ASSIGNEE'), aParty('bob', 'CC')] });
  const parties = [aParty('ann', 'ASSIGNEE', true), aParty('eve', 'CC', true)];
  expect(changesOf(before, { ...before, parties })).toEqual([
    { field: 'parties', added: ['CC eve'], removed: ['CC bob'], unread: ['ASSIGNEE ann'] },
  ]);
});

test('a large list of parties is cut', () => {
  const parties = Array.from({ length: 500 }, (_, n) => aParty(`u${n}`, 'CC'));
  const [change] = changesOf(aMatter(), aMatter({ parties }));
  expect(change?.added).toHaveLength(20);
});

test('a push that changes nothing has nothing to tell', () => {
  const matter = aMatter();
  const decision = decide(matter, aStatus({ bizStatus: 'PENDING' }), decisionContext());
  if (decision.kind !== 'accepted') throw new Error('rejected');
  expect(changesOf(matter, decision.matter)).toEqual([]);
});
