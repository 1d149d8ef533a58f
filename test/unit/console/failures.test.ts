/** The failures of the console: groups, the field of a body, and files. */

import { csvOf } from '../../../browser/console/kit/save-csv';
import { groupsOf, isOf, withOlder } from '../../../browser/console/read/failure-groups';
import { actFor } from '../../../browser/console/read/reasons';
import type { Entry, FailedRow } from '../../../browser/console/read/shapes';
import { detailOf, scalarsIn, valuesIn } from '../../../browser/console/screens/failures/details';
import { isAuthenticated } from '../../../browser/console/send/authenticated';
import {
  isSettableForAll,
  setField,
  spanOf,
  valueAt,
} from '../../../browser/console/send/set-field';
import { ALL_REASONS, PushError } from '../../../src/protocol/errors';

const row = (more: Partial<FailedRow>): FailedRow => ({
  ...{ requestId: 'a', clientId: 'c', operation: 'upsert', externalId: 'X', idempotencyKey: null },
  ...{ reason: 'VALIDATION_FAILED', fields: ['title'], failures: 1, mended: null },
  problems: [{ field: 'title', message: 'must not be blank' }],
  cause: null,
  refusedBatch: false,
  ...{ firstSeen: '2026-01-02', lastSeen: '2026-01-02' },
  ...more,
});

describe('groups', () => {
  const mended = { requestId: 'b', at: '2026-01-03', outcome: 'CREATED' };
  const rows = [
    row({ externalId: 'A', fields: ['title', 'url'], failures: 3 }),
    row({ externalId: 'B', mended, firstSeen: '2026-01-01' }),
    row({ externalId: 'C', reason: 'MATTER_NOT_FOUND', fields: [] }),
  ];

  test('are by reason and field; what has several fields counts with each', () => {
    expect(groupsOf(rows)).toEqual([
      expect.objectContaining({
        ...{ field: 'title', matters: 2, pushes: 4, stillFailed: 1, firstSeen: '2026-01-01' },
      }),
      expect.objectContaining({ field: 'url', matters: 1, pushes: 3, stillFailed: 1 }),
      expect.objectContaining({ reason: 'MATTER_NOT_FOUND', field: null, matters: 1 }),
    ]);
    const of = (field: string) => rows.filter((it) => isOf(it, 'VALIDATION_FAILED', field)).length;
    expect([of('title'), of('url'), of(''), of('-')]).toEqual([2, 1, 2, 0]);
  });

  test('are named by their problem, if all matters have the same one', () => {
    const problems = [{ field: 'parties[3].username', message: 'no such user: x' }];
    const user = row({ externalId: 'U', fields: ['parties[].username'], problems });
    const other = [{ field: 'title', message: 'is required' }];
    const messages = (all: FailedRow[]) =>
      groupsOf(all).map(({ field, message }) => [field, message]);
    expect(messages([row({}), row({ externalId: 'Y' }), user])).toEqual([
      ['title', 'must not be blank'],
      ['parties[].username', 'no such user: x'],
    ]);
    expect(messages([row({}), row({ externalId: 'Y', problems: other })])).toEqual([
      ['title', null],
    ]);
    expect(messages([row({ fields: [], problems: [] })])).toEqual([[null, null]]);
  });

  test('a matter that was never created is in the group of its rejected upsert', () => {
    const { requestId, reason, fields, problems } = row({ requestId: 'first' });
    const none = { reason: 'MATTER_NOT_FOUND', fields: [], problems: [] };
    const missing = row({ ...none, cause: { requestId, reason, fields, problems } });
    expect(groupsOf([missing])).toMatchObject([{ reason: 'VALIDATION_FAILED', field: 'title' }]);
    expect(isOf(missing, 'VALIDATION_FAILED', 'title')).toBe(true);
    expect(isOf(missing, 'MATTER_NOT_FOUND', '-')).toBe(false);
    // A link without a field leads to the reason of the last failure too.
    expect(isOf(missing, 'MATTER_NOT_FOUND', '')).toBe(true);
  });

  test('a matter on two pages is one, and its newest failure counts', () => {
    const older = row({ externalId: 'A', reason: 'OLD', failures: 2, firstSeen: '2025-12-01' });
    const all = withOlder(rows, [older, row({ externalId: 'D' })]);
    expect(all).toHaveLength(4);
    expect(all[0]).toMatchObject({ failures: 5, firstSeen: '2025-12-01', reason: rows[0]?.reason });
  });
});

describe('the details of a failure', () => {
  const problems = [
    { field: 'parties[1].username', message: 'no such user' },
    { field: 'title', message: 'must not be blank' },
  ];
  const body = '{"title":" ","parties":[{"username":"a"},{"username":"b"}]}';
  test.each([
    [body, 'parties[].username', { title: undefined, value: 'b', scalars: ['b'] }],
    [body, 'title', { title: undefined, value: '" "', scalars: [' '] }],
    ['{"title":"x","title2":1}', 'url', { title: 'x', value: undefined, scalars: [] }],
    ['{"title":7}', 'title', { title: undefined, value: '7', scalars: [7] }],
    ['{"title":[7]}', 'title', { title: undefined, value: '[7]', scalars: [] }],
    ['{"title":"x",}', 'title', {}],
    ['null', 'title', {}],
  ])('%s: %s', (text, field, detail) => {
    expect(detailOf({ problems }, field, text)).toEqual(detail);
  });

  test('give the different values of some matters', () => {
    const details = new Map([
      ['a', { scalars: ['x', 7] }],
      ['b', { scalars: ['7', 'x'] }],
      ['c', { scalars: [true] }],
    ]);
    const rowsOf = ['a', 'b', 'd'].map((requestId) => row({ requestId }));
    expect(scalarsIn(rowsOf, details)).toEqual(['x', 7, '7']);
  });

  test('count each value, the most frequent first', () => {
    const details = [{ value: 'a' }, { value: 'b' }, { title: 'x' }, { value: 'b' }];
    const byId = new Map(details.map((detail, n) => [String(n), detail]));
    expect(valuesIn(byId)).toEqual([
      ['b', 2],
      ['a', 1],
    ]);
  });
});

describe('one field is set, and all else stays byte for byte', () => {
  test.each([
    [
      '{ "n": 12345678901234567890, "title" : "" }',
      'title',
      '{ "n": 12345678901234567890, "title" : "x" }',
    ],
    ['{"title":1,"a":"\\u4e2d","title":2}', 'title', '{"title":1,"a":"\\u4e2d","title":"x"}'],
    ['{"a":{"title":0}}', 'title', '{"title":"x","a":{"title":0}}'],
    ['{}', 'title', '{"title":"x"}'],
    ['{"p":[{"u":"a"},{"u":"b, {"}]}', 'p[1].u', '{"p":[{"u":"a"},{"u":"x"}]}'],
    ['{"p":[]}', 'p[0].u', '{"p":[]}'],
    ['{"p":"["}', 'p[0].u', '{"p":"["}'],
    ['{"a":[[1,2],[3]]}', 'a[1][0]', '{"a":[[1,2],["x"]]}'],
    ['{"__proto__":1}', 'constructor', '{"constructor":"x","__proto__":1}'],
  ])('%s: %s', (body, place, expected) => {
    expect(setField(body, place, '"x"')).toBe(expected);
    expect(valueAt(expected, place)).toBe(expected === body ? undefined : '"x"');
  });
});

const entry = (more: Partial<Entry>) =>
  ({
    ...{
      requestId: 'a',
      operation: 'upsert',
      idempotencyKey: null,
      bodyHash: String(Math.random()),
    },
    ...{ externalId: 'X', body: '{"title":""}', secretId: 's', resentFrom: null, problems: [] },
    ...more,
  }) as unknown as Entry;

test('one value is never set for the ids of many matters', () => {
  const fields = ['title', 'parties[].username', 'externalId', '(body)', 'X-Idempotency-Key'];
  expect(fields.filter(isSettableForAll)).toEqual(['title', 'parties[].username']);
});

test('who has to act is somebody who can: what is not sent from here is not to be sent again', () => {
  const notSent = ALL_REASONS.filter(
    (reason) => !isAuthenticated(entry({ state: 'REFUSED', reason })),
  );
  expect(notSent.map(actFor).filter((act) => act !== 'ask' && act !== 'anew')).toEqual([]);
});

test('what may be sent again is known by the rule of the service', () => {
  const refused = ALL_REASONS.map((reason) => {
    const isSent = isAuthenticated(entry({ state: 'REFUSED', reason }));
    return [reason, isSent];
  });
  expect(refused).toEqual(
    ALL_REASONS.map((reason) => [reason, ![401, 403].includes(new PushError(reason).code)]),
  );
  expect(isAuthenticated(entry({ state: 'EXPIRED', reason: 'CONFIRMATION_TIMEOUT' }))).toBe(true);
  expect(isAuthenticated(entry({ state: 'EXPIRED', secretId: null }))).toBe(false);
});

test.each([
  ['{"title":"title","a":{"title":""}}', 'a.title', '"title":""'],
  [
    '{"username":"x","parties":[{"username":"a"},{"username":"b"}]}',
    'parties[1].username',
    '"username":"b"',
  ],
  ['{"parties": [ {"partyRole":"CC"} ]}', 'parties[0].username', '{"partyRole":"CC"}'],
  ['{"p":[1,[2,3]]}', 'p[1]', '[2,3]'],
  ['{"a":1}', 'title', undefined],
  ['{"title":', 'title', undefined],
  ['{}', '(body)', undefined],
])('of %s the place of %s is marked', (body, place, marked) => {
  const span = spanOf(body, place);
  expect(span && body.slice(...span)).toBe(marked);
});

test('no cell of a file is a formula, and each stays one cell', () => {
  const cells = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    ' =1',
    '\t=1',
    '\r=1',
    'a"b',
    'a,b',
    'a\nb',
    '张三',
    '',
  ];
  expect(csvOf([cells])).toBe(
    `\ufeff'=1+1,'+1,'-1,'@SUM(A1),' =1,"'\t'=1","'\r'=1","a""b","a,b","a\nb",张三,\r\n`,
  );
});
