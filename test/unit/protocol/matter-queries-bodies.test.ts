/** What the bodies of the queries about matters may be: every problem is named by its field. */
import { createMatterQueryReaders } from '../../../src/protocol/matter-queries';
import { resultOf } from '../../support/steps';

const readers = createMatterQueryReaders('Asia/Shanghai');
const read = { ...readers, diff: (body: unknown) => resultOf(readers.diff(body)) };
const many = <T>(count: number, make: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n));
const ids = (count: number) => many(count, (n) => `HD-${n}`);
const lines = (count: number) => ids(count).map((externalId) => ({ externalId }));

test.each<[keyof typeof read, object, string[]]>([
  ['get', {}, ['externalIds']],
  ['get', { externalIds: 'HD-1' }, ['externalIds']],
  ['get', { externalIds: [] }, ['externalIds']],
  ['get', { externalIds: ids(501) }, ['externalIds']],
  ['get', { externalIds: many(200_000, () => 1) }, ['externalIds']],
  [
    'get',
    { externalIds: ['HD-1', 1, ' ', 'x'.repeat(129)] },
    ['externalIds[1]', 'externalIds[2]', 'externalIds[3]'],
  ],
  ['query', { updatedFrom: 'yesterday', limit: 501 }, ['updatedFrom', 'limit']],
  ['query', { updatedTo: '1969-12-31T23:59:59Z' }, ['updatedTo']],
  ['query', { limit: 0 }, ['limit']],
  ['query', { limit: 1.5 }, ['limit']],
  ['query', { limit: '10' }, ['limit']],
  ['query', { cursor: 7 }, ['cursor']],
  ['query', { cursor: 'x'.repeat(201) }, ['cursor']],
  ['query', { bizType: 1 }, ['bizType']],
  ['query', { updatedFrom: 2_000_000_000, updatedTo: 1_999_999_999 }, ['updatedTo']],
  [
    'query',
    { updatedFrom: '2026-01-01 08:00:00', updatedTo: '2026-01-01T00:00:00Z' },
    ['updatedTo'],
  ],
  ['diff', {}, ['lines']],
  ['diff', { lines: [] }, ['lines']],
  ['diff', { lines: lines(1_001) }, ['lines']],
  ['diff', { lines: ['HD-1'] }, ['lines[0]']],
  ['diff', { lines: [{}] }, ['lines[0].externalId']],
  ['diff', { lines: [{ externalId: 'HD-1', bizStatus: 'done' }] }, ['lines[0].bizStatus']],
  ['diff', { lines: [{ externalId: 'HD-1', sourceUpdatedAt: '?' }] }, ['lines[0].sourceUpdatedAt']],
  ['diff', { lines: [{ externalId: 'HD-1', deleted: 'yes' }] }, ['lines[0].deleted']],
  [
    'diff',
    { lines: [{ externalId: 'HD-1', externalStatusCode: 1 }] },
    ['lines[0].externalStatusCode'],
  ],
  ['diff', { lines: [...lines(3), ...lines(2)] }, ['lines[3].externalId', 'lines[4].externalId']],
  ['digest', { fromDay: '2026-1-1' }, ['fromDay']],
  ['digest', { fromDay: '2026-02-30', toDay: 20260101 }, ['fromDay', 'toDay']],
  ['digest', { fromDay: '2026-01-02', toDay: '2026-01-01' }, ['toDay']],
  ['digest', { open: 'true' }, ['open']],
  ['digest', { bizType: ['oa'] }, ['bizType']],
])('%s of %j names %j', (name, body, fields) => {
  const errors = fields.map((field) => ({
    field,
    message: expect.any(String),
    english: expect.any(String),
  }));
  const rejection = expect.objectContaining({ reason: 'VALIDATION_FAILED', errors });
  expect(() => read[name](body)).toThrow(rejection);
});

test('what is left out or null takes its default', () => {
  expect(read.query({ updatedFrom: null, cursor: null })).toEqual({ limit: 100 });
  expect(read.digest({ bizType: null, open: null })).toEqual({});
  expect(read.get({ externalIds: ids(500), other: 1 }).externalIds).toHaveLength(500);
});

test('instants come in every form; null says that there is none, which is compared', () => {
  const instants = [
    1_767_322_800,
    '1767322800000',
    '2026-01-02T03:00:00Z',
    '2026-01-02 11:00:00',
    null,
  ];
  const sent = instants.map((sourceUpdatedAt, n) => ({ externalId: `HD-${n}`, sourceUpdatedAt }));
  const parsed = read.diff({ lines: sent }).lines.map(({ sourceUpdatedAt }) => sourceUpdatedAt);
  expect(parsed).toEqual([...many(4, () => 1_767_322_800_000), null]);
  expect(read.diff({ lines: lines(1) }).lines).toEqual([{ externalId: 'HD-0' }]);
});

test('a window may be one day; it begins and ends with the day of the zone', () => {
  const { fromDay, toDay } = read.digest({ fromDay: '2026-01-02', toDay: '2026-01-02' });
  expect(fromDay?.start).toBe(Date.parse('2026-01-01T16:00:00Z'));
  expect(toDay?.end).toBe(Date.parse('2026-01-02T16:00:00Z'));
});
