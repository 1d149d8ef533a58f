/** What a push changed, in words. */

import { changesOf } from '../../../src/domain/changes';
import type { Matter } from '../../../src/domain/matter';
import { changeLines, shortChanges } from '../../../tools/matterctl/log/entry-text';
import { aMatter, aParty, NOW } from '../../support/builders';

const ZONE = 'Asia/Shanghai';
const LATER = NOW + 3_600_000;
const before = aMatter({
  sourceUpdatedAt: NOW,
  parties: [aParty('li.lei', 'ASSIGNEE'), aParty('han.meimei', 'CC')],
});
const change = (over: Partial<Matter>) => changesOf(before, { ...before, ...over });
const short = (over: Partial<Matter>) => shortChanges(change(over), ZONE);
const lines = (over: Partial<Matter>) => changeLines(change(over), ZONE);

const parties = [aParty('li.lei', 'ASSIGNEE', true), aParty('zhao', 'ASSIGNEE', true)];

test.each<[string, Partial<Matter>, string, string[]]>([
  [
    'a state, from and to',
    { bizStatus: 'DONE' },
    'bizStatus PENDING → DONE',
    ['bizStatus: PENDING → DONE'],
  ],
  ['what was absent', { priority: 'HIGH' }, 'priority - → HIGH', ['priority: - → HIGH']],
  ['a deletion', { deleted: true }, 'deleted false → true', ['deleted: false → true']],
  [
    'instants, in the zone of the portal',
    { sourceUpdatedAt: LATER },
    'sourceUpdatedAt 2024-06-01 08:00:00 → 2024-06-01 09:00:00',
    ['sourceUpdatedAt: 2024-06-01 08:00:00 → 2024-06-01 09:00:00'],
  ],
  ['a text, by its name', { title: 'new' }, 'title', ['title']],
  [
    'parties that joined, left and became unread again',
    { parties },
    '+ASSIGNEE zhao, -CC han.meimei, unread ASSIGNEE li.lei',
    [
      'parties added: ASSIGNEE zhao',
      'parties removed: CC han.meimei',
      'parties unread again: ASSIGNEE li.lei',
    ],
  ],
  [
    'parties of whom only the names changed',
    { parties: [...before.parties] },
    'parties',
    ['parties'],
  ],
])('%s', (_what, over, inShort, inLines) => {
  expect(short(over)).toBe(inShort);
  expect(lines(over)).toEqual(inLines);
});

test('several changes are told in one line', () => {
  expect(short({ bizStatus: 'DONE', title: 'new', parties: [] })).toBe(
    'bizStatus PENDING → DONE, title, -ASSIGNEE li.lei, -CC han.meimei',
  );
});

test('of a new matter only what was set is told', () => {
  const created = changesOf(undefined, aMatter({ sourceUpdatedAt: NOW }));
  expect(shortChanges(created, ZONE)).toBe(
    'bizStatus PENDING, matterType TODO, sourceUpdatedAt 2024-06-01 08:00:00, title',
  );
  expect(changeLines(created, ZONE)[0]).toBe('bizStatus: PENDING');
});

test('many parties are cut off in the short form', () => {
  const many = Array.from({ length: 8 }, (_, n) => aParty(`u${n}`, 'CC'));
  const text = short({ parties: [...before.parties, ...many] });
  expect(text).toBe('+CC u0, +CC u1, +CC u2, +CC u3, +CC u4, …');
});
