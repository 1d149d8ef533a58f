/** What the contract accepts, and what it becomes (contract 4). */
import { aBody, accept, rejected, rejectedFields } from '../../support/bodies';

test('an upsert with every field becomes the operation that says the same', () => {
  const body = {
    matterType: 'ALERT',
    externalId: '订单-1 🚀',
    title: ' title ',
    summary: 's',
    content: 'line\nline\t\r\n',
    pcUrl: 'https://portal/pc?a=1#b',
    mobileUrl: 'myapp://open/1',
    bizType: '  leave ',
    priority: 'P0',
    bizStatus: 'PROCESSING',
    deadlineAt: '2024-06-01T08:00:00',
    initiatorExtId: 'E1',
    initiatorUsername: 'li',
    externalStatusCode: '10',
    externalStatusLabel: '处理中',
    sourceUpdatedAt: 1_717_200_000,
    payloadJson: '{"a":[1,null]}',
    replaceParties: true,
    parties: [{ username: 'li', partyRole: 'ASSIGNEE' }],
  };
  const { matterType, externalId, title, parties } = body;
  const { summary, content, pcUrl, mobileUrl, priority, payloadJson } = body;
  const { initiatorExtId, initiatorUsername, externalStatusCode, externalStatusLabel } = body;
  expect(accept('upsert', body)).toEqual({
    externalId,
    operation: {
      op: 'upsert',
      matterType,
      title,
      content: {
        ...{ summary, content, pcUrl, mobileUrl, priority, payloadJson },
        ...{ initiatorExtId, initiatorUsername, externalStatusCode, externalStatusLabel },
        bizType: 'leave',
        deadlineAt: 1_717_200_000_000,
      },
      bizStatus: 'PROCESSING',
      sourceUpdatedAt: 1_717_200_000_000,
      replaceParties: true,
      parties,
      assignedId: false,
    },
  });
});

test('the smallest upsert touches nothing but type and title', () => {
  expect(accept('upsert')).toStrictEqual({
    externalId: 'A-1',
    operation: {
      op: 'upsert',
      matterType: 'TODO',
      title: 'title',
      content: {},
      replaceParties: false,
      assignedId: false,
    },
  });
});

const CONTENT = [
  'summary',
  'content',
  'pcUrl',
  'mobileUrl',
  'bizType',
  'priority',
  'deadlineAt',
  'initiatorExtId',
  'initiatorUsername',
  'externalStatusCode',
  'externalStatusLabel',
  'payloadJson',
];
test.each(CONTENT)('null clears %s, which absent would keep', (name) => {
  expect(accept('upsert', { [name]: null }).operation).toMatchObject({ content: { [name]: null } });
});

test.each(['externalStatusCode', 'externalStatusLabel'])('null clears %s by status', (name) => {
  expect(accept('status', { [name]: null }).operation).toMatchObject({ [name]: null });
  expect(accept('reopen', { [name]: null }).operation).toMatchObject({ [name]: null });
});

test('null clears bizStatus of an upsert to that of a new matter', () => {
  expect(accept('upsert', { bizStatus: null }).operation).toMatchObject({ bizStatus: 'PENDING' });
});

test.each(['externalId', 'sourceUpdatedAt', 'replaceParties', 'parties', 'removeParties'])(
  'null says the same as leaving %s out',
  (name) => {
    const notice = { matterType: 'NOTICE', externalId: undefined };
    const absent = accept('upsert', notice);
    expect(accept('upsert', { ...notice, [name]: null })).toEqual(absent);
  },
);

test.each(['upsert', 'status', 'reopen'] as const)('an empty bizStatus of %s is none', (op) => {
  expect(accept(op, { bizStatus: '' })).toEqual(accept(op));
  expect(accept(op).operation).not.toHaveProperty('bizStatus', expect.anything());
});

test.each([
  ['status', undefined, false],
  ['status', true, true],
  ['reopen', undefined, true],
  ['reopen', null, true],
  ['reopen', false, false],
] as const)('%s with resetAssigneeUnread %s resets: %s', (op, sent, resets) => {
  const { operation } = accept(op, { resetAssigneeUnread: sent });
  expect(operation).toMatchObject({ op, resetAssigneeUnread: resets });
});

test('a delete takes an optional sourceUpdatedAt', () => {
  expect(accept('delete').operation).toEqual({ op: 'delete' });
  expect(accept('delete', { sourceUpdatedAt: '1717200000' }).operation).toEqual({
    op: 'delete',
    sourceUpdatedAt: 1_717_200_000_000,
  });
});

test.each(['NOTICE', 'ALERT', 'REMIND'])('a %s may come without an externalId', (matterType) => {
  const parsed = accept('upsert', { matterType, externalId: undefined });
  expect(parsed).toMatchObject({ externalId: undefined, operation: { assignedId: true } });
});

test.each([undefined, null])('a TODO must have an externalId, %s is none', (externalId) => {
  expect(rejected('upsert', { externalId })).toEqual(['externalId']);
});

test('replaceParties needs parties, and an empty list is one', () => {
  expect(rejected('upsert', { replaceParties: true })).toEqual(['parties']);
  expect(rejected('upsert', { replaceParties: true, parties: null })).toEqual(['parties']);
  const { operation } = accept('upsert', { replaceParties: true, parties: [] });
  expect(operation).toMatchObject({ replaceParties: true, parties: [] });
});

test.each(['upsert', 'status'] as const)('%s removes parties, in one role or in all', (op) => {
  const removeParties = [
    { username: 'li', partyRole: 'CC' },
    { username: 'wang' },
    { username: 'sun', partyRole: null },
  ];
  expect(accept(op, { removeParties }).operation).toMatchObject({
    removeParties: [{ username: 'li', partyRole: 'CC' }, { username: 'wang' }, { username: 'sun' }],
  });
  expect(accept(op, { removeParties: null })).toEqual(accept(op));
  expect(accept(op).operation).not.toHaveProperty('removeParties', expect.anything());
});

test('a reopen removes nobody', () => {
  const body = { removeParties: [{ username: 'li' }] };
  expect(accept('reopen', body)).toEqual(accept('reopen'));
});

test('a removal does not contradict parties: each that does is named', () => {
  const parties = [
    { username: 'li', partyRole: 'CC' },
    { username: 'wang', partyRole: 'ASSIGNEE' },
  ];
  const removing = (...removeParties: object[]) => rejected('upsert', { parties, removeParties });
  expect(removing({ username: 'sun' }, { username: 'li', partyRole: 'ASSIGNEE' })).toEqual([]);
  expect(
    removing({ username: 'li' }, { username: 'sun' }, { username: 'wang', partyRole: 'ASSIGNEE' }),
  ).toEqual(['removeParties[0]', 'removeParties[2]']);
});

test('a removal does not come with replaceParties; an empty list removes nobody', () => {
  const replacing = { replaceParties: true, parties: [{ username: 'li', partyRole: 'CC' }] };
  const removeParties = [{ username: 'wang' }];
  expect(rejected('upsert', { ...replacing, removeParties })).toEqual(['removeParties']);
  expect(rejected('upsert', { ...replacing, removeParties: [] })).toEqual([]);
  expect(rejected('upsert', { ...replacing, replaceParties: false, removeParties })).toEqual([]);
});

test('an id of the service may be named; whether it exists is decided with the matter', () => {
  expect(accept('upsert', { externalId: 'auto:1f' }).operation).toMatchObject({
    assignedId: false,
  });
});

test.each(['upsert', 'status', 'reopen', 'delete'] as const)(
  '%s ignores unknown fields, whatever they hold: systemCode, matterId, __proto__',
  (op) => {
    const hostile = JSON.parse(
      '{"systemCode":"OTHER","matterId":1,"deleted":true,"revision":9,"assignedId":true,"op":"x",' +
        '"phase":{"$ne":null},"__proto__":{"title":"x","bizStatus":"DONE"},"constructor":{}}',
    );
    const body = { ...aBody(op), ...hostile };
    Object.defineProperty(body, '__proto__', { value: { bizStatus: 'DONE' }, enumerable: true });
    expect(rejectedFields(op, body)).toEqual([]);
    expect(accept(op, body)).toStrictEqual(accept(op));
    expect(Object.getPrototypeOf(accept(op, body).operation)).toBe(Object.prototype);
  },
);

test('every problem of a body is named at once', () => {
  const fields = rejected('upsert', {
    matterType: 'TODO',
    externalId: undefined,
    title: '',
    summary: 1,
    pcUrl: 'javascript:alert(1)',
    bizStatus: 'lower',
    payloadJson: '{',
    deadlineAt: 'tomorrow',
    sourceUpdatedAt: 'yesterday',
    replaceParties: true,
    parties: undefined,
  });
  expect(fields.sort()).toEqual(
    [
      ...['bizStatus', 'deadlineAt', 'externalId', 'parties', 'payloadJson'],
      ...['pcUrl', 'sourceUpdatedAt', 'summary', 'title'],
    ].sort(),
  );
});
