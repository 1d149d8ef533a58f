/** The failures of the console: what is grouped, what is sent again and as what, and what is written to files. */

import { isAuthenticated } from '../../../public/console/authenticated';
import { groupsOf, isOf, withOlder } from '../../../public/console/failure-groups';
import { chunksOf, lineOf, type Part, type Push } from '../../../public/console/failure-lines';
import { plannedOf } from '../../../public/console/failure-planned';
import { actFor } from '../../../public/console/reasons';
import { csvOf } from '../../../public/console/save-csv';
import { setField, spanOf } from '../../../public/console/set-field';
import type { Entry, FailedRow } from '../../../public/console/shapes';
import { readLine } from '../../../src/protocol/batch-lines';
import { ALL_REASONS, PushError } from '../../../src/protocol/errors';

const row = (more: Partial<FailedRow>): FailedRow => ({
  ...{ requestId: 'a', clientId: 'c', operation: 'upsert', externalId: 'X', idempotencyKey: null },
  ...{ reason: 'VALIDATION_FAILED', fields: ['title'], failures: 1, mended: null },
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

  test('a matter on two pages is one, and its newest failure counts', () => {
    const older = row({ externalId: 'A', reason: 'OLD', failures: 2, firstSeen: '2025-12-01' });
    const all = withOlder(rows, [older, row({ externalId: 'D' })]);
    expect(all).toHaveLength(4);
    expect(all[0]).toMatchObject({ failures: 5, firstSeen: '2025-12-01', reason: rows[0]?.reason });
  });
});

describe('one field is set, and all else stays byte for byte', () => {
  const set = (json: string) => ({ json });
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
    expect(setField(body, place, set('"x"'))).toBe(expected);
  });

  test.each([
    ['{"a":1,"b":2}', 'a', '{"b":2}'],
    ['{"a":1, "b":[2,3]}', 'b', '{"a":1}'],
    ['{"a":1}', 'a', '{}'],
    ['{"a":1}', 'b', '{"a":1}'],
    ['{"p":[1,2,3]}', 'p[1]', '{"p":[1,3]}'],
  ])('left out of %s: %s', (body, place, expected) => {
    expect(setField(body, place, 'remove')).toBe(expected);
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

/** Who sends it. */
const OWN = { clientId: 'a' };

describe('of one matter', () => {
  test('all that failed is sent, in order; what came anew once, where it came last', () => {
    const tried = { idempotencyKey: 'k' };
    const { state, pushes } = plannedOf(
      'x',
      [
        entry({ requestId: '1', ...tried }),
        entry({ requestId: '2', operation: 'status', bodyHash: 'same' }),
        entry({ requestId: '3', ...tried, body: '{"title":"later"}' }),
        entry({ requestId: '4', operation: 'status', bodyHash: 'same' }),
      ],
      OWN,
    );
    expect(state).toBe('send');
    expect(pushes.map(({ operation, key }) => `${operation} ${key}`)).toEqual([
      'upsert k',
      'status console/4',
    ]);
    expect(pushes[0]?.body).toBe('{"title":"later"}');
  });

  test.each<[string, Partial<Entry>, Partial<Entry>]>([
    ['under its key', { idempotencyKey: 'k', bodyHash: 'A' }, { bodyHash: 'A' }],
    ['from here', { bodyHash: 'A' }, { idempotencyKey: 'console/1', bodyHash: 'A' }],
    ['mended from here', { bodyHash: 'A' }, { idempotencyKey: 'console/1', bodyHash: 'B' }],
    ['mended with this key', { idempotencyKey: 'k', bodyHash: 'A' }, { secretId: 'q' }],
  ])('a late retry %s undoes nothing that came after it', (_, first, again) => {
    const entries = [
      entry({ requestId: '1', ...first }),
      entry({ requestId: '2', operation: 'status' }),
      entry({ requestId: '3', ...first, bodyHash: 'C', ...again, body: '{"n":3}' }),
      entry({ requestId: '4', ...first, bodyHash: 'D', ...again, body: '{"n":4}' }),
    ];
    const { pushes } = plannedOf('x', entries, { ...OWN, secretId: 'q' });
    expect(pushes.map(({ operation, body }) => [operation, body])).toEqual([
      ['upsert', '{"n":4}'],
      ['status', '{"title":""}'],
    ]);
  });

  test('nor does a retry of what was mended since', () => {
    const key = { idempotencyKey: 'k' };
    const entries = [
      entry({ requestId: '1', ...key, bodyHash: 'A' }),
      entry({ requestId: '2', ...key, bodyHash: 'B', secretId: 'q', body: '{"n":2}' }),
      entry({ requestId: '3', operation: 'status' }),
      entry({ requestId: '4', ...key, bodyHash: 'A' }),
    ];
    const { pushes } = plannedOf('x', entries, { ...OWN, secretId: 'q' });
    expect(pushes.map(({ body }) => body)).toEqual(['{"n":2}', '{"title":""}']);
  });

  test('nor does an operator’s resend, which has no key', () => {
    const entries = [
      entry({ requestId: '1', idempotencyKey: 'k1', bodyHash: 'A' }),
      entry({ requestId: '2', idempotencyKey: 'k2', bodyHash: 'B' }),
      entry({ requestId: '3', resentFrom: '1', bodyHash: 'A', secretId: null }),
    ];
    expect(plannedOf('x', entries, OWN).pushes.map(({ key }) => key)).toEqual(['k1', 'k2']);
  });

  test.each<[string, Partial<Entry>]>([
    ['of its source, which has a new secret', { secretId: 'new' }],
    ['of another client, whose key is its own', { clientId: 'b', bodyHash: 'A' }],
  ])('what comes under the same key %s is another push', (_, more) => {
    const key = { clientId: 'a', idempotencyKey: 'k' };
    const entries = [
      entry({ requestId: '1', ...key, bodyHash: 'A' }),
      entry({ requestId: '2', clientId: 'a', operation: 'status' }),
      entry({ requestId: '3', ...key, bodyHash: 'B', ...more, body: '{"n":3}' }),
    ];
    const { pushes } = plannedOf('x', entries, { ...OWN, secretId: 'q' });
    expect(pushes.map(({ body }) => body).at(-1)).toBe('{"n":3}');
  });

  test('what had no key, and was sent from here before, is sent once, as it was mended', () => {
    const { pushes, looked } = plannedOf(
      'x',
      [
        entry({ requestId: '1' }),
        entry({ requestId: '2', idempotencyKey: 'console/1', body: '{"title":"mended"}' }),
      ],
      OWN,
    );
    expect(pushes).toMatchObject([
      { operation: 'upsert', key: 'console/1', body: '{"title":"mended"}' },
    ]);
    expect(looked).toEqual(['1', '2']);
  });

  test.each(['SIGNATURE_REUSED', 'SCOPE_NOT_ALLOWED', 'CLIENT_DISABLED'])(
    'what was rejected with %s is not sent, and holds nothing else up',
    (reason) => {
      const rejected = entry({ requestId: '1', state: 'REFUSED', reason, body: null });
      const { state, pushes } = plannedOf('x', [rejected, entry({ requestId: '2' })], OWN);
      expect([state, pushes.map(({ key }) => key)]).toEqual(['send', ['console/2']]);
    },
  );

  test.each<[string, Partial<Entry>[]]>([
    ['mended', []],
    ['bodyless', [{}, { body: null }]],
    // Nobody looked at its signature: who wrote it is not known.
    ['bodyless', [{ secretId: null }]],
    ['send', [{ secretId: null, resentFrom: 'b' }]],
    ['send', [{ state: 'REFUSED', reason: 'VALIDATION_FAILED' }]],
    // It was signed, and for another operation.
    ['bodyless', [{ state: 'REFUSED', reason: 'SIGNATURE_REUSED' }]],
    ['bodyless', [{ state: 'REFUSED', reason: 'OF_A_NEWER_SERVICE' }]],
    ['many', Array.from({ length: 1_001 }, () => ({}))],
    // Its client would make a second one: the key is none of ours.
    ['foreign', [{ clientId: 'b', externalId: null, idempotencyKey: 'k' }]],
    ['foreign', [{ clientId: 'b', externalId: 'auto:x', idempotencyKey: 'k' }]],
    ['send', [{ clientId: 'a', externalId: null, idempotencyKey: 'k' }]],
    // Its assigned id is made of its bytes.
    ['unsendable', [{ clientId: 'a', externalId: 'auto:x', idempotencyKey: 'k', body: '{\n}' }]],
    ['send', [{ clientId: 'a', externalId: 'X', idempotencyKey: 'k', body: '{\n}' }]],
    ['send', [{ clientId: 'b', externalId: null }]],
    ['send', [{ clientId: 'b', externalId: 'X', idempotencyKey: 'k' }]],
    ['unsendable', [{}, { body: '{"title":' }]],
    ['unsendable', [{ body: 'base64:/w==' }]],
    ['unsendable', [{ operation: 'matters/batch' }]],
  ])('it is %s', (state, entries) => {
    expect(plannedOf('x', entries.map(entry), OWN).state).toBe(state);
  });

  test('a value goes where the fault was, and nowhere else', () => {
    const body = '{"parties":[{"username":"a"},{"username":"b"}]}';
    const problems = [{ field: 'parties[1].username', message: 'no' }];
    const settings = [
      { field: 'parties[].username', change: { json: '"z"' } },
      { field: 'url', change: 'remove' as const },
    ];
    const other = entry({ requestId: 'c', body: '{"url":"","n":1}' });
    const entries = [entry({ body, problems }), other];
    const planned = plannedOf('x', entries, { ...OWN, settings });
    expect(planned.pushes.map((it) => it.body)).toEqual([body.replace('"b"', '"z"'), other.body]);
    // What an earlier plan found wrong is set too.
    const again = plannedOf('x', entries, {
      ...{ ...OWN, settings, found: new Map([['upsert console/c', ['url']]]) },
    });
    expect(again.pushes[1]?.body).toBe('{"n":1}');
  });
});

describe('lines', () => {
  test('are such as the service reads, also of a body in many lines', () => {
    const body = '{\r\n  "title": "a\\nb\u2028"\n}';
    const bytes = Buffer.from(lineOf({ operation: 'upsert', body, key: 'k "1"' }));
    expect(bytes.includes(10)).toBe(false);
    const read = readLine({ number: 1, bytes }, { lines: 9, bodyBytes: 999 });
    expect(read).toMatchObject({ op: 'upsert', key: 'k "1"', body: JSON.parse(body) });
  });

  const LIMITS = { batchLines: 1_000, batchBytes: 8_000_000 };
  const matter = (name: string, keys: string[]) => ({
    name,
    pushes: keys.map((key) => ({ operation: 'upsert', body: '{}', key })),
  });
  const many = Array.from({ length: 60 }, (_, n) => String(n));
  const namesOf = (chunks: Part<{ name: string; pushes: readonly Push[] }>[][]) =>
    chunks.map((chunk) =>
      chunk.map(({ matter: { name }, pushes }) => `${name}${pushes.length}`).join(' '),
    );

  test('fill batches; a matter stays together, and no key is twice in one', () => {
    const all = [matter('A', many), matter('B', ['b']), matter('C', ['b']), matter('D', many)];
    expect(namesOf(chunksOf(all, LIMITS))).toEqual(['A60 B1', 'C1 D60']);
    expect(chunksOf([], LIMITS)).toEqual([]);
  });

  test('one matter that no batch takes goes in several, in its order', () => {
    const keys = Array.from({ length: 230 }, (_, n) => String(n));
    const chunks = chunksOf([matter('A', ['a']), matter('B', keys), matter('C', ['c'])], LIMITS);
    expect(namesOf(chunks)).toEqual(['A1', 'B100', 'B100', 'B30 C1']);
    const sent = chunks.flat().flatMap(({ pushes }) => pushes.map(({ key }) => key));
    expect(sent).toEqual(['a', ...keys, 'c']);
  });

  test('are as many, and as long, as the service takes', () => {
    const all = [matter('A', ['1', '2']), matter('B', ['3']), matter('C', ['4'])];
    expect(namesOf(chunksOf(all, { ...LIMITS, batchLines: 3 }))).toEqual(['A2 B1', 'C1']);
    expect(namesOf(chunksOf(all, { ...LIMITS, batchLines: 1 }))).toEqual(['A1', 'A1', 'B1', 'C1']);
    const long = {
      name: 'L',
      pushes: [{ operation: 'upsert', body: '"中"'.repeat(99), key: 'l' }],
    };
    const two = [long, { ...long, pushes: long.pushes.map((push) => ({ ...push, key: 'm' })) }];
    expect(namesOf(chunksOf(two, { ...LIMITS, batchBytes: 1_500 }))).toEqual(['L1', 'L1']);
  });
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
