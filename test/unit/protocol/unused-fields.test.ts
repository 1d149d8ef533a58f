/** A field that no operation reads is named, with the one that was probably meant. */

import type { OperationName } from '../../../src/domain/operation';
import { likelyName } from '../../../src/protocol/likely-name';
import { unusedFields } from '../../../src/protocol/unused-fields';
import { aBody } from '../../support/bodies';
import type { Body } from '../../support/push-bodies';

const unused = (operation: OperationName, over: Body) =>
  unusedFields(aBody(operation, over), operation, false);

test.each([
  ['partys', 'parties'],
  ['bizstatus', 'bizStatus'],
  ['biz_status', 'bizStatus'],
  ['dueAt', 'deadlineAt'],
  ['titel', 'title'],
  ['sourceUpdateAt', 'sourceUpdatedAt'],
  ['mobilUrl', 'mobileUrl'],
  ['replaceParty', 'replaceParties'],
  ['remove_parties', 'removeParties'],
  ['removedParties', 'removeParties'],
  ['initiator', 'initiatorUsername'],
])('%s is taken for %s', (name, suggestion) => {
  expect(unused('upsert', { [name]: 'x' })).toEqual([
    {
      field: name,
      kind: 'UNKNOWN_FIELD',
      suggestion,
      message: `未知字段，已忽略；是否应为 ${suggestion}？`,
      english: `unknown field, ignored; did you mean ${suggestion}?`,
    },
  ]);
});

test.each(['colour', 'x', 'zzzzzzzz', '', '__proto__', '备注', 'a'.repeat(5_000)])(
  'of a name like %s nothing is guessed',
  (name) => {
    const body = JSON.parse(`{"externalId":"A-1",${JSON.stringify(name)}:null}`);
    const [only, ...others] = unusedFields(body, 'delete', false);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ kind: 'UNKNOWN_FIELD', message: '未知字段，已忽略' });
    expect(only?.field.length).toBeLessThanOrEqual(65);
  },
);

test('a long name is not cut within a character', () => {
  const name = `${'a'.repeat(63)}🚀`;
  const [found] = unusedFields({ externalId: 'A-1', [name]: null }, 'delete', false);
  expect(found?.field).toBe(`${'a'.repeat(63)}…`);
});

test('a field of another operation does not apply, and is not taken for a typo', () => {
  expect(unused('status', { title: 'T', parties: [], systemCode: 'OA' })).toMatchObject([
    { field: 'title', kind: 'FIELD_NOT_APPLICABLE' },
    { field: 'parties', kind: 'FIELD_NOT_APPLICABLE' },
    { field: 'systemCode', kind: 'SYSTEM_CODE_IGNORED' },
  ]);
  expect(unused('upsert', { resetAssigneeUnread: true })).toMatchObject([
    { field: 'resetAssigneeUnread', kind: 'FIELD_NOT_APPLICABLE' },
  ]);
});

test('a party has its own fields, and is named by its place', () => {
  const parties = [{ username: 'li', role: 'CC' }, null, { userName: 'li', partyRole: 'CC' }];
  expect(unused('upsert', { parties })).toMatchObject([
    { field: 'parties[0].role', suggestion: 'partyRole' },
    { field: 'parties[2].userName', suggestion: 'username' },
  ]);
});

test('a removal has its own fields; a reopen and a delete have none', () => {
  const removeParties = [
    { username: 'li', role: 'CC' },
    { username: 'li', partyRole: 'CC' },
  ];
  const fields = [{ field: 'removeParties[0].role', suggestion: 'partyRole' }];
  expect(unused('upsert', { removeParties })).toMatchObject(fields);
  expect(unused('status', { removeParties })).toMatchObject(fields);
  for (const operation of ['reopen', 'delete'] as const) {
    expect(unused(operation, { removeParties })).toMatchObject([
      { field: 'removeParties', kind: 'FIELD_NOT_APPLICABLE' },
    ]);
  }
});

test('the first 20 are named, however many there are', () => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`partys${n}`, n]));
  expect(unused('upsert', many)).toHaveLength(20);
  const parties = Array.from({ length: 500 }, () => ({ username: 'li', partyRole: 'CC', x: 1 }));
  expect(unused('upsert', { parties })).toHaveLength(20);
});

test('every field that is read is known', () => {
  const all = { summary: 's', content: 'c', parties: [{ username: 'li', partyRole: 'CC' }] };
  expect(unused('upsert', { ...all, deadlineAt: null, payloadJson: '{}' })).toEqual([]);
  expect(unused('reopen', { bizStatus: 'DONE', resetAssigneeUnread: false })).toEqual([]);
  expect(unused('delete', { sourceUpdatedAt: 1 })).toEqual([]);
});

test('no known name is taken for another one', () => {
  const names = ['title', 'summary', 'content', 'pcUrl', 'mobileUrl'];
  for (const name of names) expect(likelyName(name, names)).toBe(name);
});
