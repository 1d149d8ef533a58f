/** What is pushed for which difference, and why nothing is where nothing is. */

import type { Matter } from '../../../src/domain/matter';
import type { ExpectedMatter, Row } from '../../../src/queries/reconcile/expected';
import { find } from '../../../src/queries/reconcile/find';
import { type Obstacle, type RepushLine, repush } from '../../../src/queries/reconcile/repush';
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

const plan = (expectedMatter: ExpectedMatter, here: Matter | undefined, overwriteNewer = false) => {
  const findings = find(expectedMatter, here).map(({ finding }) => finding);
  const formatLocal = (instant: number) => `local ${instant}`;
  const pushed = repush({ expectedMatter, held: here, findings }, { overwriteNewer, formatLocal });
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
    expect(find(expectedMatter, here)).toEqual([]);
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
      row({ ...stamped, bizStatus: 'PENDING' }, { externalStatusLabel: 'L', summary: 's' }),
      held({ sourceUpdatedAt: 1 }),
      'NEEDS_CONTENT',
    ],
    [
      'stale, of another status: mended, and stale as before',
      row({ ...stamped, bizStatus: 'DONE' }, { externalStatusLabel: 'L', summary: 's' }),
      held({ sourceUpdatedAt: 1 }),
      {
        op: 'status',
        body: {
          externalId: 'A-1',
          bizStatus: 'DONE',
          externalStatusLabel: 'L',
          sourceUpdatedAt: '1970-01-01T00:00:00.001Z',
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
    expect(find(expectedMatter, here)).toEqual([{ finding: expect.anything(), yours, here: ours }]);
  });
});
