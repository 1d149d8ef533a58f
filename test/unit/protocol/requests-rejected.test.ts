/** Every 400 of contract 4 names its field. Wrong types, forms and characters. */
import type { OperationName } from '../../../src/domain/operation';
import { accept, rejected, rejectedFields } from '../../support/bodies';

const TEXTS: Record<OperationName, string[]> = {
  upsert: [
    ...['matterType', 'externalId', 'title', 'summary', 'content', 'pcUrl', 'mobileUrl', 'bizType'],
    ...['priority', 'bizStatus', 'deadlineAt', 'initiatorExtId', 'initiatorUsername'],
    ...['externalStatusCode', 'externalStatusLabel', 'payloadJson'],
  ],
  status: ['externalId', 'bizStatus', 'externalStatusCode', 'externalStatusLabel'],
  reopen: ['externalId', 'bizStatus', 'externalStatusCode', 'externalStatusLabel'],
  delete: ['externalId'],
};
const FLAGS: Record<OperationName, string[]> = {
  upsert: ['replaceParties'],
  status: ['resetAssigneeUnread'],
  reopen: ['resetAssigneeUnread'],
  delete: [],
};
const OPERATIONS = Object.keys(TEXTS) as OperationName[];
const NO_TEXT = [42, 0, true, false, {}, [], ['x'], { $ne: null }, { $gt: '' }];
const NO_FLAG = ['true', 'false', '', 1, 0, {}, [], { $ne: null }];
const NO_TIME = [true, {}, [], { $ne: null }, { $date: 1 }];

const cases = (of: Record<OperationName, string[]>, values: readonly unknown[]) =>
  OPERATIONS.flatMap((op) =>
    of[op].flatMap((field) => values.map((value) => [op, field, value] as const)),
  );

test.each(cases(TEXTS, NO_TEXT))('%s: %s is a string, not %j', (op, field, value) => {
  expect(rejected(op, { [field]: value })).toEqual([field]);
});

test.each(cases(FLAGS, NO_FLAG))('%s: %s is a boolean, not %j', (op, field, value) => {
  // With parties there, only the flag itself can be the reason.
  expect(rejected(op, { parties: [], [field]: value })).toEqual([field]);
});

test.each(OPERATIONS.flatMap((op) => NO_TIME.map((value) => [op, value] as const)))(
  '%s: sourceUpdatedAt is a time, not %j',
  (op, value) => {
    expect(rejected(op, { sourceUpdatedAt: value })).toEqual(['sourceUpdatedAt']);
  },
);

test.each([
  ['an object', {}, 'parties'],
  ['a string', 'li', 'parties'],
  ['an operator', { $ne: null }, 'parties'],
  ['null inside', [null], 'parties[0]'],
  ['a bare username', ['li'], 'parties[0]'],
  ['no username', [{ partyRole: 'CC' }], 'parties[0].username'],
  ['a number as username', [{ username: 1, partyRole: 'CC' }], 'parties[0].username'],
  ['a blank username', [{ username: ' ', partyRole: 'CC' }], 'parties[0].username'],
  ['an operator as username', [{ username: { $ne: '' }, partyRole: 'CC' }], 'parties[0].username'],
  ['no role', [{ username: 'li' }], 'parties[0].partyRole'],
  ['an unknown role', [{ username: 'li', partyRole: 'BOSS' }], 'parties[0].partyRole'],
  ['a lower-case role', [{ username: 'li', partyRole: 'cc' }], 'parties[0].partyRole'],
])('parties that are %s', (_, parties, field) => {
  expect(rejected('upsert', { parties })).toEqual([field]);
});

test.each([
  ['an object', {}, 'removeParties'],
  ['a string', 'li', 'removeParties'],
  ['null inside', [null], 'removeParties[0]'],
  ['a bare username', ['li'], 'removeParties[0]'],
  ['no username', [{ partyRole: 'CC' }], 'removeParties[0].username'],
  ['a blank username', [{ username: ' ' }], 'removeParties[0].username'],
  ['an operator', [{ username: { $ne: '' } }], 'removeParties[0].username'],
  ['an unknown role', [{ username: 'li', partyRole: 'BOSS' }], 'removeParties[0].partyRole'],
  ['an empty role', [{ username: 'li', partyRole: '' }], 'removeParties[0].partyRole'],
  ['501', Array.from({ length: 501 }, (_, n) => ({ username: `u${n}` })), 'removeParties'],
])('removeParties that are %s', (_, removeParties, field) => {
  expect(rejected('upsert', { removeParties })).toEqual([field]);
  expect(rejected('status', { removeParties })).toEqual([field]);
});

test('removals are compared with parties only if both lists are valid', () => {
  const li = { username: 'li', partyRole: 'CC' };
  expect(rejected('upsert', { parties: [li, {}], removeParties: [li], title: '' })).toEqual([
    'title',
    'parties[1].username',
    'parties[1].partyRole',
  ]);
  expect(rejected('upsert', { parties: [li], removeParties: [li], title: '' })).toEqual([
    'title',
    'removeParties[0]',
  ]);
});

test('every bad party is named', () => {
  const good = { username: 'li', partyRole: 'CC' };
  const parties = [{ username: '', partyRole: 'x' }, good, { username: 'li' }];
  expect(rejected('upsert', { parties })).toEqual([
    'parties[0].username',
    'parties[0].partyRole',
    'parties[2].partyRole',
  ]);
});

test('fields that must be there', () => {
  expect(rejectedFields('upsert', {})).toEqual(['matterType', 'title']);
  expect(rejectedFields('status', {})).toEqual(['externalId']);
  expect(rejectedFields('reopen', {})).toEqual(['externalId']);
  expect(rejectedFields('delete', {})).toEqual(['externalId']);
  expect(rejected('upsert', { title: null })).toEqual(['title']);
  expect(rejected('upsert', { matterType: null })).toEqual(['matterType']);
  expect(rejected('delete', { externalId: null })).toEqual(['externalId']);
});

test.each(['todo', 'TASK', '', 'constructor', 'TODO '])(
  'matterType %j is none of the four',
  (matterType) => {
    expect(rejected('upsert', { matterType })).toEqual(['matterType']);
  },
);

test.each(['externalId', 'title'])('%s is not empty and not blank', (field) => {
  expect(rejected('upsert', { [field]: '' })).toEqual([field]);
  expect(rejected('upsert', { [field]: ' \t　' })).toEqual([field]);
});

const WITH_TEXT = TEXTS.upsert.filter((name) => name !== 'matterType');
test.each(WITH_TEXT)('%s: a lone surrogate, a NUL or a control character is rejected', (field) => {
  const around = field.endsWith('Url') ? ['https://p/', ''] : ['a', 'b'];
  for (const bad of ['\ud83d', '\ude80', '\0', '\x07', '\x1b', '\x7f']) {
    const value = field === 'payloadJson' ? `{"a":"${bad}"}` : around.join(bad);
    expect(rejected('upsert', { [field]: value })).toEqual([field]);
  }
});

test.each(['\n', '\r', '\t', '\x7f', '\x80', '\x9f'])(
  'externalId and usernames are one line without control characters: %j',
  (bad) => {
    const value = `a${bad}b`;
    for (const op of OPERATIONS)
      expect(rejected(op, { externalId: value })).toEqual(['externalId']);
    expect(rejected('upsert', { initiatorUsername: value })).toEqual(['initiatorUsername']);
    const parties = [{ username: value, partyRole: 'CC' }];
    expect(rejected('upsert', { parties })).toEqual(['parties[0].username']);
  },
);

test.each(['DRAFT', 'A', 'IN_PROGRESS_2', 'STEP_10', 'WAITING4ME'])(
  'bizStatus %s is stored',
  (bizStatus) => {
    for (const op of ['upsert', 'status', 'reopen'] as const) {
      expect(accept(op, { bizStatus }).operation).toMatchObject({ bizStatus });
    }
  },
);

test.each([
  'done',
  'Done',
  'IN PROGRESS',
  'IN-PROGRESS',
  '_A',
  'A_',
  'A__B',
  '1A',
  ' DONE',
  'DONE\n',
  '完成',
])('bizStatus %j is not upper snake case', (bizStatus) => {
  for (const op of ['upsert', 'status', 'reopen'] as const) {
    expect(rejected(op, { bizStatus })).toEqual(['bizStatus']);
  }
});

test.each(['', ' ', '{', "{'a':1}", 'undefined', '{"a":1}x', '\ufeff{}', 'NaN'])(
  'payloadJson %j is not a JSON document',
  (payloadJson) => {
    expect(rejected('upsert', { payloadJson })).toEqual(['payloadJson']);
  },
);

test.each(['{}', '[]', 'null', '1', '"text"', ' {"a" : 1}\n', '{"$ne":null}'])(
  'payloadJson %j is one, kept as it was sent',
  (payloadJson) => {
    expect(accept('upsert', { payloadJson }).operation).toMatchObject({ content: { payloadJson } });
  },
);
