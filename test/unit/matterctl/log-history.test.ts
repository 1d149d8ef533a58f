/** The history of a matter in lines, and log entries in lines. */

import type { OperatorEntryView } from '../../../src/protocol/log-entry';
import { entryLine } from '../../../tools/matterctl/commands/log-tail';
import {
  createHistoryLines,
  isWithoutBeginning,
} from '../../../tools/matterctl/commands/matter-history';
import { anEntryView } from '../../support/log-views';

const ZONE = 'Asia/Shanghai';
const ID = anEntryView().requestId;
const line = (over: Partial<OperatorEntryView>) =>
  createHistoryLines(ZONE).add(anEntryView(over)).split(/ {2,}/).slice(2);

test.each<[string, Partial<OperatorEntryView>, string[]]>([
  [
    'an effect',
    { revision: 3, changes: [{ field: 'bizStatus', from: 'PENDING', to: 'DONE' }] },
    ['UPDATED', '3', ID, 'bizStatus PENDING → DONE'],
  ],
  ['no change', {}, ['UPDATED', '-', ID, 'changed nothing']],
  [
    'a stale push',
    {
      outcome: 'STALE_IGNORED',
      stale: { sent: '2024-05-31T16:00:00.000Z', stored: '2024-06-01T00:00:00.500Z' },
    },
    [
      'STALE_IGNORED',
      '-',
      ID,
      'ignored: sent 2024-06-01 00:00:00 older than 2024-06-01 08:00:00.500',
    ],
  ],
  [
    'a rejection',
    {
      state: 'REFUSED',
      outcome: null,
      reason: 'VALIDATION_FAILED',
      problems: ['a', 'b', 'c', 'd'].map((field) => ({ field, message: 'no' })),
    },
    ['VALIDATION_FAILED', '-', ID, 'a: no, b: no, c: no, …'],
  ],
  [
    'a retry',
    { state: 'REPLAYED', duplicateOf: 'first' },
    ['UPDATED (replayed)', '-', ID, 'answered as first'],
  ],
  [
    'an end without effect',
    { state: 'EXPIRED', outcome: null, reason: 'CONFIRMATION_TIMEOUT' },
    ['CONFIRMATION_TIMEOUT', '-', ID, 'without effect'],
  ],
  ['one under way', { state: 'QUEUED', outcome: null }, ['QUEUED', '-', ID, 'not settled yet']],
  ['a reused key', { mark: 'KEY_REUSED' }, ['UPDATED (key reused)', '-', ID, 'changed nothing']],
])('%s is told in its line', (_what, over, cells) => {
  expect(line(over)).toEqual(cells);
});

test('a push that took effect before one above it is marked', () => {
  const lines = createHistoryLines(ZONE);
  const revisions = [1, 3, undefined, 2, 4].map((revision) => {
    const text = lines.add(anEntryView({ revision: revision ?? null }));
    return text.slice(0, text.indexOf(ID)).trim().split(' ').at(-1);
  });
  expect(revisions).toEqual(['1', '3', '-', '2*', '4']);
  expect(lines.isOutOfOrder()).toBe(true);
});

test('control characters and turned text of a stored field do not reach the terminal', () => {
  const evil = 'A\u001b[2J\u009b1m\u202eB';
  const told = [
    entryLine(anEntryView({ externalId: evil, systemCode: evil }), ZONE),
    createHistoryLines(ZONE).add(
      anEntryView({ state: 'REFUSED', reason: 'X', problems: [{ field: evil, message: evil }] }),
    ),
  ];
  for (const text of told) {
    expect(text).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(text).toContain('A [2J 1m B');
  }
});

describe('the beginning of a history is missed', () => {
  const entry = (state: OperatorEntryView['state'], result: string) => {
    const isRejected = state === 'REFUSED';
    return { state, outcome: isRejected ? null : result, reason: isRejected ? result : null };
  };
  const created = entry('PERSISTED', 'CREATED');
  const updated = entry('PERSISTED', 'UPDATED');
  const notFound = entry('REFUSED', 'MATTER_NOT_FOUND');

  test.each([
    [
      'not where it is there, after what was rejected before it',
      [notFound, created, updated],
      false,
    ],
    ['not where another push took effect before it', [updated, created], false],
    ['not where there never was a matter', [notFound], false],
    ['where the oldest push met a matter', [updated, updated], true],
    ['where only a retry of the creation is left', [entry('REPLAYED', 'CREATED')], true],
    ['where the matter was deleted before', [entry('REFUSED', 'MATTER_DELETED')], true],
  ])('%s', (_when, entries, isMissed) => {
    expect(isWithoutBeginning(entries)).toBe(isMissed);
  });
});
