/** Lengths: the limit passes, one more is rejected, nothing is cut (contract 4.11). */
import type { OperationName } from '../../../src/domain/operation';
import { accept, rejected } from '../../support/bodies';

const URL = 'https://p/';
const x = (length: number) => 'x'.repeat(length);
/** Limits of contract 4.11; those of the last three are this service's own. */
const LIMITS: readonly (readonly [string, number, (length: number) => string])[] = [
  ['externalId', 128, x],
  ['title', 512, x],
  ['summary', 2_000, x],
  ['content', 65_536, x],
  ['pcUrl', 2_048, (n) => URL + x(n - URL.length)],
  ['mobileUrl', 2_048, (n) => URL + x(n - URL.length)],
  ['payloadJson', 65_536, (n) => `"${x(n - 2)}"`],
  ['initiatorUsername', 64, x],
  ['bizType', 64, x],
  ['bizStatus', 64, (n) => 'X'.repeat(n)],
  ['priority', 32, x],
  ['initiatorExtId', 128, x],
  ['externalStatusCode', 128, x],
  ['externalStatusLabel', 256, x],
];

test.each(LIMITS)('%s: %i characters pass, one more does not', (field, limit, make) => {
  const { externalId, operation } = accept('upsert', { [field]: make(limit) });
  const { content, ...rest } = operation as { content: object };
  expect({ ...rest, ...content, externalId }).toHaveProperty(field, make(limit));
  expect(rejected('upsert', { [field]: make(limit + 1) })).toEqual([field]);
});

const SHARED = ['externalId', 'bizStatus', 'externalStatusCode', 'externalStatusLabel'];
const OTHERS = (['status', 'reopen'] as const).flatMap((op) =>
  LIMITS.filter(([field]) => SHARED.includes(field)).map((limit) => [op, ...limit] as const),
);
test.each<[OperationName, string, number, (length: number) => string]>([
  ...OTHERS.map((row) => [...row] as [OperationName, string, number, typeof x]),
  ['delete', 'externalId', 128, x],
])('%s: %s: %i characters pass, one more does not', (op, field, limit, make) => {
  expect(rejected(op, { [field]: make(limit) })).toEqual([]);
  expect(rejected(op, { [field]: make(limit + 1) })).toEqual([field]);
});

test('a username of 64 characters may be a party, one of 65 not', () => {
  const parties = (username: string) => ({ parties: [{ username, partyRole: 'CC' }] });
  expect(rejected('upsert', parties(x(64)))).toEqual([]);
  expect(rejected('upsert', parties(x(65)))).toEqual(['parties[0].username']);
});

test('500 parties pass, 501 do not', () => {
  const parties = (n: number) =>
    Array.from({ length: n }, (_, index) => ({ username: `u${index}`, partyRole: 'CC' }));
  expect(accept('upsert', { parties: parties(500) }).operation).toHaveProperty(
    'parties.length',
    500,
  );
  expect(rejected('upsert', { parties: parties(501) })).toEqual(['parties']);
});

test('bizType is measured after trimming', () => {
  const { operation } = accept('upsert', { bizType: `  ${x(64)}  ` });
  expect(operation).toMatchObject({ content: { bizType: x(64) } });
});
