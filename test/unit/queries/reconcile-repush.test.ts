/** What is pushed for which difference, and why nothing is where nothing is. */

import type { Matter } from '../../../src/domain/matter';
import type { ExpectedMatter, Row } from '../../../src/queries/reconcile/expected';
import { findDifferences } from '../../../src/queries/reconcile/find';
import {
  createRepushLine,
  type Obstacle,
  type RepushLine,
} from '../../../src/queries/reconcile/repush';
import { aMatter, aParty, NOW } from '../../support/builders';

const MINUTE = 60_000;
const ISO = '2024-06-01T00:00:00.000Z';
const LATER = '2024-06-01T00:01:00.000Z';

const folded = (over: Partial<Matter> = {}): ExpectedMatter => ({
  kind: 'folded',
  expected: aMatter({ sourceUpdatedAt: NOW, ...over }),
});
const row = (expected: Partial<Row['expected']>, pushed: Row['pushed'] = {}): ExpectedMatter => ({
  kind: 'row',
  expected: { externalId: 'A-1', ...expected },
  pushed,
});
const held = (over: Partial<Matter> = {}) => aMatter({ sourceUpdatedAt: NOW, ...over });
const TITLED = { matterType: 'TODO', title: 't', summary: null };

const plan = (
  expectedMatter: ExpectedMatter,
  here: Matter | undefined,
  overwriteNewer = false,
  matterType?: string,
) => {
  const findings = findDifferences(expectedMatter, here).map(({ finding }) => finding);
  const formatLocal = (instant: number) => `local ${instant}`;
  const pushed = createRepushLine(
    { expectedMatter, stored: here, findings },
    { overwriteNewer, formatLocal, matterType },
  );
  return { findings, pushed };
};
/** As it stands in the file. */
const written = (pushed: RepushLine | Obstacle) => JSON.parse(JSON.stringify(pushed));

describe('a folded matter', () => {
  const upsert = { op: 'upsert', body: { title: 'old title', sourceUpdatedAt: ISO } };
  const remove = { op: 'delete', body: { externalId: 'A-1', sourceUpdatedAt: ISO } };

  test.each<[string, ExpectedMatter, Matter | undefined, string[], object]>([
    ['missing', folded(), undefined, ['MISSING'], upsert],
    ['deleted by hand', folded(), held({ deleted: true }), ['DELETED'], upsert],
    ['left behind', folded(), held({ sourceUpdatedAt: 1 }), ['STALE_HERE'], upsert],
    ['never stamped here', folded(), held({ sourceUpdatedAt: null }), ['STALE_HERE'], upsert],
    ['of another status', folded(), held({ bizStatus: 'DONE' }), ['STATUS_DIFFERS'], upsert],
    ['of another title', folded(), held({ title: 'x' }), ['CONTENT_DIFFERS'], upsert],
    ['not deleted', folded({ deleted: true }), held({ title: 'x' }), ['NOT_DELETED'], remove],
  ])('%s', (_, expectedMatter, here, findings, line) => {
    const { findings: found, pushed } = plan(expectedMatter, here);
    expect(found).toEqual(findings);
    expect(pushed).toMatchObject(line);
  });

  test.each<[string, ExpectedMatter, Matter | undefined]>([
    ['the same', folded(), held()],
    ['deleted there and never here', folded({ deleted: true }), undefined],
    [
      'deleted on both sides, whatever it said',
      folded({ deleted: true }),
      held({ deleted: true, title: 'x', bizStatus: 'DONE', sourceUpdatedAt: 1 }),
    ],
  ])('%s is no difference', (_, expectedMatter, here) => {
    expect(findDifferences(expectedMatter, here)).toEqual([]);
  });

  test('its deadline is said in the form that the caller gives', () => {
    expect(plan(folded({ deadlineAt: 5 }), undefined).pushed).toMatchObject({
      body: { deadlineAt: 'local 5' },
    });
  });
});

describe('what is newer here', () => {
  const newer = (over: Partial<Matter> = {}) => held({ sourceUpdatedAt: NOW + MINUTE, ...over });

  test.each<[string, ExpectedMatter, Matter, object | Obstacle]>([
    [
      'another title',
      folded(),
      newer({ title: 'x' }),
      { op: 'upsert', body: { title: 'old title', sourceUpdatedAt: LATER } },
    ],
    [
      'deleted',
      folded(),
      newer({ deleted: true }),
      { op: 'upsert', body: { sourceUpdatedAt: LATER } },
    ],
    [
      'alive',
      folded({ deleted: true }),
      newer(),
      { op: 'delete', body: { externalId: 'A-1', sourceUpdatedAt: LATER } },
    ],
    ['nothing but the time', folded(), newer(), 'ONLY_NEWER'],
    [
      'a stamp where the file has none',
      folded({ sourceUpdatedAt: null }),
      newer({ title: 'x' }),
      { op: 'upsert', body: { sourceUpdatedAt: LATER } },
    ],
    [
      'a row of content',
      row({ sourceUpdatedAt: NOW }, TITLED),
      newer(),
      { op: 'upsert', body: { title: 't', sourceUpdatedAt: LATER } },
    ],
    [
      'a row of another status',
      row({ sourceUpdatedAt: NOW, bizStatus: 'DONE' }),
      newer(),
      { op: 'status', body: { bizStatus: 'DONE', sourceUpdatedAt: LATER } },
    ],
    [
      'a row of the same status',
      row({ sourceUpdatedAt: NOW, bizStatus: 'PENDING' }),
      newer(),
      'ONLY_NEWER',
    ],
  ])('%s: only on demand, with the time that is here', (_, expectedMatter, here, expected) => {
    expect(plan(expectedMatter, here).pushed).toBe('NEWER_HERE');
    const { pushed } = plan(expectedMatter, here, true);
    if (typeof expected === 'string') expect(pushed).toBe(expected);
    else expect(pushed).toMatchObject(expected);
  });

  test('a status without a time is applied to what was here when it was compared, not later', () => {
    const { findings, pushed } = plan(row({ bizStatus: 'DONE' }), newer());
    expect(findings).toEqual(['STATUS_DIFFERS']);
    expect(written(pushed as RepushLine)).toEqual({
      op: 'status',
      body: { externalId: 'A-1', bizStatus: 'DONE', sourceUpdatedAt: LATER },
    });
  });
});

describe('a row', () => {
  const stamped = { sourceUpdatedAt: NOW };
  const upsert = { externalId: 'A-1', ...TITLED, sourceUpdatedAt: ISO };

  test.each<[string, ExpectedMatter, Matter | undefined, object | Obstacle]>([
    ['missing, with content', row(stamped, TITLED), undefined, { op: 'upsert', body: upsert }],
    ['missing, without', row({ ...stamped, bizStatus: 'DONE' }), undefined, 'NEEDS_CONTENT'],
    ['missing, without a title', row(stamped, { matterType: 'TODO' }), undefined, 'NEEDS_CONTENT'],
    [
      'deleted here, with content',
      row(stamped, TITLED),
      held({ deleted: true }),
      { op: 'upsert', body: upsert },
    ],
    ['deleted here, without', row({ bizStatus: 'DONE' }), held({ deleted: true }), 'NEEDS_CONTENT'],
    [
      'stale, with content',
      row({ ...stamped, bizStatus: 'DONE', externalStatusCode: 'X' }, TITLED),
      held({ sourceUpdatedAt: 1 }),
      { op: 'upsert', body: { ...upsert, bizStatus: 'DONE', externalStatusCode: 'X' } },
    ],
    [
      // With its time the status would hide that a push with the content was lost.
      'stale, of the same status, without content',
      row({ ...stamped, bizStatus: 'PENDING' }, { externalStatusLabel: null, summary: null }),
      held({ sourceUpdatedAt: 1 }),
      'NEEDS_CONTENT',
    ],
    [
      'stale, of another status: mended, and stale as before',
      row({ ...stamped, bizStatus: 'DONE' }, { externalStatusLabel: null }),
      held({ sourceUpdatedAt: 1 }),
      {
        op: 'status',
        body: {
          externalId: 'A-1',
          bizStatus: 'DONE',
          externalStatusLabel: null,
          sourceUpdatedAt: '1970-01-01T00:00:00.001Z',
        },
      },
    ],
    [
      'stale, of other content, without a title: mended, and stale as before',
      row({ ...stamped, bizStatus: 'DONE' }, { externalStatusLabel: 'L', summary: 's' }),
      held({ sourceUpdatedAt: 1 }),
      {
        op: 'upsert',
        body: {
          ...{ externalId: 'A-1', matterType: 'TODO', title: 'old title' },
          ...{ bizStatus: 'DONE', externalStatusLabel: 'L', summary: 's' },
          sourceUpdatedAt: '1970-01-01T00:00:00.001Z',
        },
      },
    ],
    [
      'stale, with a title, of a type that only the ledger knows',
      row(stamped, { title: 'old title' }),
      held({ sourceUpdatedAt: 1, matterType: 'NOTICE' }),
      {
        op: 'upsert',
        body: {
          ...{ externalId: 'A-1', matterType: 'NOTICE', title: 'old title' },
          sourceUpdatedAt: ISO,
        },
      },
    ],
    ['stale, with a time only', row(stamped), held({ sourceUpdatedAt: 1 }), 'NEEDS_CONTENT'],
    [
      'without a code',
      row({ externalStatusCode: null }),
      held({ externalStatusCode: 'X' }),
      { op: 'status', body: { externalId: 'A-1', externalStatusCode: null, sourceUpdatedAt: ISO } },
    ],
    [
      'not deleted',
      row({ deleted: true, ...stamped }, TITLED),
      held(),
      { op: 'delete', body: { externalId: 'A-1', sourceUpdatedAt: ISO } },
    ],
  ])('%s', (_, expectedMatter, here, expected) => {
    expect(written(plan(expectedMatter, here).pushed)).toEqual(expected);
  });
});

describe('what a row states is compared', () => {
  const found = (matter: ExpectedMatter, here: Matter) =>
    findDifferences(matter, here).map(({ finding, yours }) => [
      finding,
      ...Object.keys(yours ?? {}),
    ]);
  const assigned = (...assignees: string[]): ExpectedMatter => ({
    ...(row({}) as Row),
    assignees,
  });

  test.each<[string, Row['pushed'], Partial<Matter>]>([
    ['title', { title: 'new title' }, {}],
    ['matterType', { matterType: 'NOTICE' }, {}],
    ['summary', { summary: 's' }, { summary: 'other' }],
    ['summary', { summary: null }, { summary: 's' }],
    ['bizType', { bizType: 'leave' }, { bizType: 'travel' }],
    ['priority', { priority: 'HIGH' }, {}],
    ['initiatorUsername', { initiatorUsername: 'a' }, { initiatorUsername: 'b' }],
    ['externalStatusLabel', { externalStatusLabel: 'L' }, {}],
    ['parties', { parties: [aParty('a', 'ASSIGNEE')] }, { parties: [aParty('b', 'ASSIGNEE')] }],
    ['parties', { parties: [], replaceParties: true }, { parties: [aParty('b', 'ASSIGNEE')] }],
    ['parties', { removeParties: [{ username: 'b' }] }, { parties: [aParty('b', 'ASSIGNEE')] }],
  ])('%s: %j', (field, pushed, here) => {
    expect(found(row({}, pushed), held(here))).toEqual([['CONTENT_DIFFERS', field]]);
  });

  test.each<[string, ExpectedMatter, Partial<Matter>]>([
    ['what it does not state', row({}, { title: 'old title' }), { summary: 's', priority: 'LOW' }],
    ['blanks around a type', row({}, { bizType: ' leave ' }), { bizType: 'leave' }],
    ['null, where there is nothing', row({}, { summary: null }), { summary: null }],
    [
      'parties that the push would be merged with',
      row({}, { parties: [aParty('a', 'ASSIGNEE')] }),
      { parties: [aParty('a', 'ASSIGNEE'), aParty('b', 'CC')] },
    ],
    [
      'a party that was removed, or never was one',
      row({}, { removeParties: [{ username: 'b', partyRole: 'CC' }, { username: 'c' }, 7] }),
      { parties: [aParty('b', 'ASSIGNEE')] },
    ],
    [
      'its assignees',
      assigned('b', 'a'),
      { parties: [aParty('a', 'ASSIGNEE'), aParty('c', 'CC'), aParty('b', 'ASSIGNEE')] },
    ],
  ])('%s is no difference', (_, matter, here) => {
    expect(findDifferences(matter, held(here))).toEqual([]);
  });

  test('a deadline is an instant, whatever its form; a minute is not less than a second', () => {
    const due = (deadlineAt: number, step?: number): ExpectedMatter => ({
      ...(row({}, { deadlineAt: '2024-06-01T08:00:00' }) as Row),
      deadlineAt,
      ...(step && { precisions: { deadlineAt: step } }),
    });
    expect(findDifferences(due(NOW), held({ deadlineAt: NOW }))).toEqual([]);
    expect(findDifferences(due(NOW, MINUTE), held({ deadlineAt: NOW + MINUTE - 1 }))).toEqual([]);
    const other = findDifferences(due(NOW, MINUTE), held({ deadlineAt: NOW + MINUTE }));
    expect(other).toMatchObject([{ finding: 'CONTENT_DIFFERS', yours: { deadlineAt: ISO } }]);
    const { pushed } = plan(
      { ...(due(NOW, MINUTE) as Row), pushed: { title: 'x', deadlineAt: '2024-06-01T08:00:00' } },
      held({ deadlineAt: NOW + 5_000 }),
    );
    expect(written(pushed)).toMatchObject({ op: 'upsert', body: { title: 'x' } });
    expect(written(pushed).body).not.toHaveProperty('deadlineAt');
  });

  test('a time of a spreadsheet is that of the ledger, where it may be', () => {
    const at = (sourceUpdatedAt: number, step: number): ExpectedMatter => ({
      ...(row({ sourceUpdatedAt, bizStatus: 'DONE' }) as Row),
      precisions: { sourceUpdatedAt: step },
    });
    const here = held({ sourceUpdatedAt: NOW + 30_500 });
    expect(plan(at(NOW, MINUTE), here)).toMatchObject({
      findings: ['STATUS_DIFFERS'],
      pushed: { op: 'status', body: { sourceUpdatedAt: '2024-06-01T00:00:30.500Z' } },
    });
    expect(plan(at(NOW - MINUTE, MINUTE), here).findings).toContain('NEWER_HERE');
    expect(plan(at(NOW + MINUTE, MINUTE), here).findings).toContain('STALE_HERE');
  });

  test('a natural export creates what is missing: with a type of its own, and assignees', () => {
    const matter: ExpectedMatter = {
      kind: 'row',
      expected: { externalId: 'A-1', bizStatus: 'PENDING', sourceUpdatedAt: NOW },
      pushed: { title: '报销', bizType: '费用' },
      assignees: ['li.lei'],
    };
    expect(plan(matter, undefined).pushed).toBe('NEEDS_CONTENT');
    expect(written(plan(matter, undefined, false, 'TODO').pushed)).toEqual({
      op: 'upsert',
      body: {
        ...{ externalId: 'A-1', matterType: 'TODO', title: '报销', bizType: '费用' },
        ...{ bizStatus: 'PENDING', sourceUpdatedAt: ISO },
        parties: [{ username: 'li.lei', partyRole: 'ASSIGNEE' }],
        replaceParties: true,
      },
    });
  });

  test('parties to remove are sent as the row names them', () => {
    const here = held({ parties: [aParty('a', 'ASSIGNEE'), aParty('b', 'CC')] });
    const removeParties = [{ username: 'a' }];
    const pushed = written(plan(row({}, { removeParties }), here).pushed);
    expect(pushed).toMatchObject({ op: 'upsert', body: { removeParties } });
    expect(pushed.body).not.toHaveProperty('parties');
  });

  test('assignees are replaced, the other parties stay', () => {
    const here = held({ parties: [aParty('a', 'ASSIGNEE'), aParty('c', 'CC')] });
    expect(found(assigned('b'), here)).toEqual([['CONTENT_DIFFERS', 'parties']]);
    expect(written(plan(assigned('b'), here).pushed)).toMatchObject({
      op: 'upsert',
      body: {
        parties: [
          { username: 'b', partyRole: 'ASSIGNEE' },
          { username: 'c', partyRole: 'CC' },
        ],
        replaceParties: true,
      },
    });
  });
});

test('removed parties beside assignees are left out of the complete list', () => {
  const removeParties = [{ username: 'c' }];
  const matter: ExpectedMatter = { ...(row({}, { removeParties }) as Row), assignees: ['a'] };
  const here = held({ parties: [aParty('a', 'ASSIGNEE'), aParty('c', 'CC'), aParty('d', 'CC')] });
  const { findings, pushed } = plan(matter, here);
  expect(findings).toEqual(['CONTENT_DIFFERS']);
  const { body } = written(pushed);
  expect(body).toMatchObject({
    parties: [
      { username: 'a', partyRole: 'ASSIGNEE' },
      { username: 'd', partyRole: 'CC' },
    ],
    replaceParties: true,
  });
  expect(body).not.toHaveProperty('removeParties');
});

describe('both sides of a difference', () => {
  test.each<[string, ExpectedMatter, Matter | undefined, object, object | null]>([
    ['missing', row({ bizStatus: 'DONE' }), undefined, { bizStatus: 'DONE' }, null],
    ['deleted', folded(), held({ deleted: true }), { deleted: false }, { deleted: true }],
    [
      'stale',
      folded(),
      held({ sourceUpdatedAt: null }),
      { sourceUpdatedAt: ISO },
      { sourceUpdatedAt: null },
    ],
    [
      'status',
      folded({ externalStatusCode: 'A' }),
      held(),
      { externalStatusCode: 'A' },
      { externalStatusCode: null },
    ],
    [
      'content',
      folded({ parties: [aParty('b', 'CC'), aParty('a', 'CC')] }),
      held(),
      { parties: ['CC a', 'CC b'] },
      { parties: [] },
    ],
    ['a deadline', folded({ deadlineAt: NOW }), held(), { deadlineAt: ISO }, { deadlineAt: null }],
  ])('%s', (_, expectedMatter, here, yours, ours) => {
    expect(findDifferences(expectedMatter, here)).toEqual([
      { finding: expect.anything(), yours, here: ours },
    ]);
  });
});
