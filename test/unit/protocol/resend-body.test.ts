/** The body of `push-logs/resend` (contract 7.5): a mistake in `set` is an error, never a change that nobody wanted. */
import type { PushError } from '../../../src/protocol/errors';
import { parseJsonBody } from '../../../src/protocol/json-body';
import { readQuery } from '../../../src/protocol/query-body';
import { MAX_VALUES, resendSchema } from '../../../src/protocol/resend';

const requestIds = ['f'.repeat(24)];
const read = (body: object) => readQuery(resendSchema, { requestIds, ...body });

/** @returns `field: English message` of each problem */
function problemsOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    const { errors = [] } = error as PushError;
    return errors.map(({ field, english }) => `${field}: ${english}`);
  }
  return [];
}

test('a value, null too, and a removal', () => {
  const set = [
    { field: 'title', value: 'x' },
    { field: 'parties[].username', value: null },
    { field: 'a[].b[].c[].d', value: { deep: [1] } },
    { field: 'pcUrl', remove: true },
  ];
  expect(read({ set })).toEqual({ requestIds, dryRun: undefined, set });
  expect(read({ set: null })).toMatchObject({ set: undefined });
});

const either = 'must have either value or remove, and not both';
const noField = 'must be a field of a body, such as title or parties[].username';
test.each<[string, readonly object[], readonly string[]]>([
  ['neither value nor removal', [{ field: 'title' }], [`set[0]: ${either}`]],
  ['both', [{ field: 'title', value: 1, remove: true }], [`set[0]: ${either}`]],
  [
    'no removal',
    [{ field: 'title', remove: false }],
    ['set[0].remove: Invalid input: expected true'],
  ],
  [
    'a misspelt name',
    [{ field: 'title', vaule: 1 }],
    ['set[0].vaule: unknown field', `set[0]: ${either}`],
  ],
  ['an unknown name', [{ field: 'title', value: 1, also: 2 }], ['set[0].also: unknown field']],
  [
    'a field twice',
    [
      { field: 'title', value: 1 },
      { field: 'pcUrl', remove: true },
      { field: 'title', value: 2 },
    ],
    ['set[2].field: occurs more than once'],
  ],
  [
    'a value to replace twice',
    [
      { field: 'title', from: 7, value: 'a' },
      { field: 'title', from: '7', value: 'b' },
      { field: 'title', value: 'c' },
      { field: 'title', from: 7, remove: true },
    ],
    ['set[3].from: occurs more than once'],
  ],
  [
    'a value to replace that is no scalar',
    [
      { field: 'title', from: null, value: 'a' },
      { field: 'content', from: ['x'], value: 'a' },
    ],
    [
      'set[0].from: must be text, a number or a boolean',
      'set[1].from: must be text, a number or a boolean',
    ],
  ],
  [
    'the id of the matter',
    [{ field: 'externalId', value: 'M' }],
    ['set[0].field: cannot be set, because this field identifies the matter'],
  ],
  ['a removal of the id', [{ field: 'externalId', remove: true }], [expect.any(String)]],
  ['a part of the id', [{ field: 'externalId[].a', value: 'M' }], [expect.any(String)]],
  ['a prototype', [{ field: '__proto__.title', value: 'M' }], [`set[0].field: ${noField}`]],
  ['a place', [{ field: 'parties[0].username', value: 'M' }], [`set[0].field: ${noField}`]],
  ['a long path', [{ field: 'a.b.c.d.e', value: 'M' }], [`set[0].field: ${noField}`]],
])('%s is rejected', (_, set, problems) => {
  expect(problemsOf(() => read({ set }))).toEqual(problems);
});

test('a field name that the caller made up stays short, also if it is that of a prototype', () => {
  const long = 'n'.repeat(10_000);
  expect(problemsOf(() => read({ set: [{ field: 'title', value: 1, [long]: 1 }] }))).toEqual([
    `set[0].${'n'.repeat(64)}…: unknown field`,
  ]);
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`n${n}`, n]));
  expect(problemsOf(() => read(many))).toHaveLength(20);
  const body = '{"field":"title","value":1,"__proto__":{"remove":true}}';
  const set = [parseJsonBody(Buffer.from(body))];
  expect(problemsOf(() => read({ set }))).toEqual(['set[0].__proto__: unknown field']);
});

test('the number of values has a limit; a misspelt dryRun does not send the pushes', () => {
  const values = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ field: `field${n}`, value: n }));
  expect(read({ set: values(MAX_VALUES) }).set).toHaveLength(MAX_VALUES);
  expect(problemsOf(() => read({ set: values(MAX_VALUES + 1) }))).toHaveLength(1);
  expect(problemsOf(() => read({ dryrun: true }))).toEqual(['dryrun: unknown field']);
});
