/**
 * Query operators and other wrong types in every field of every endpoint: rejected by the field's
 * name, ignored where the contract knows no such field, and never run.
 */
import { matterModel } from '../../../src/storage/ledger/matters';
import { ENDPOINTS, PLACES, type Place } from '../../support/hostile-fields';
import { expectAlive, harmless, ledgerOf, rejected, send } from '../../support/hostile-guard';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  expect(await service.push('upsert', KEPT)).toMatchObject({ code: 0 });
});
afterAll(() => service.stop());

const KEPT = {
  matterType: 'TODO',
  externalId: 'KEPT',
  title: 'as it was',
  parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }],
};

const HOSTILE: readonly unknown[] = [
  { $ne: null },
  { $gt: '' },
  { $where: 'sleep(10000) || true' },
  { _bsontype: 'ObjectID', id: 'aaaaaaaaaaaa' },
  { _bsontype: 'Code', code: 'sleep(10000)' },
  { a: { b: { $ne: null } } },
  { length: 3, toString: 'x', valueOf: 1 },
  [],
  ['x'],
  [{ $ne: null }],
  {},
  -1,
  1.5,
  true,
];

/** What the contract does take: flags are true, a list may be empty, ids and words are a list of texts. */
const GOOD: Readonly<Record<string, unknown>> = {
  replaceParties: true,
  resetAssigneeUnread: true,
  count: true,
  includeBody: true,
  failed: true,
  stillFailed: true,
  oldestFirst: true,
  newestFirst: true,
  outcome: ['x'],
  reason: ['x'],
  open: true,
  'lines[0].deleted': true,
  parties: [],
  removeParties: [],
  externalIds: ['x'],
  usernames: ['x'],
};

const isGood = (field: string, value: unknown) =>
  JSON.stringify(GOOD[field]) === JSON.stringify(value);

test('the places are those of the whole contract', () => {
  const names = PLACES.map(({ path, field }) => `${path} ${field}`);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining([
      'matters/upsert payloadJson',
      'matters/upsert parties[0].username',
      'matters/reopen resetAssigneeUnread',
      'matters/delete externalId',
      'push-logs/query cursor',
      'push-logs/failures stillFailed',
      'users/check usernames[0]',
      'matters/diff lines[0].deleted',
      'matters/digest toDay',
    ]),
  );
  expect(names.length).toBeGreaterThanOrEqual(66);
});

test.each(PLACES.map((place): [string, string, Place] => [place.path, place.field, place]))(
  '%s: no operator, object, list, number or flag passes for %s',
  async (_path, _field, { path, field, bodyWith }) => {
    const before = await ledgerOf(service);
    const values = HOSTILE.filter((value) => !isGood(field, value));
    const answers = values.map(async (value) => {
      const heard = await send(service, { path, body: bodyWith(value) });
      const { code, reason, errors = [] } = heard;
      const named = errors.length > 0 && errors.every((error) => isWithin(field, error.field));
      return { value, code, reason, named };
    });
    const rejection = { code: 400, reason: 'VALIDATION_FAILED', named: true };
    expect(await Promise.all(answers)).toEqual(values.map((value) => ({ value, ...rejection })));
    expect(await ledgerOf(service)).toEqual(before);
    await expectAlive(service);
  },
);

const isWithin = (field: string, name: string) =>
  name === field || name.startsWith(`${field}[`) || name.startsWith(`${field}.`);

test.each(['{"$ne":null}', '$where', '$$ROOT', '.*', 'KEPT.title', '__proto__', "' || true || '"])(
  'an externalId of %j is a text like any other, and finds nothing else',
  async (externalId) => {
    for (const path of ['matters/status', 'matters/reopen', 'matters/delete']) {
      const body = { externalId, bizStatus: 'DONE' };
      const heard = await harmless(service, { path, body });
      expect(heard).toMatchObject({ code: 404, message: `事项不存在: TEST/${externalId}` });
    }
    const got = await harmless(service, {
      path: 'matters/get',
      body: { externalIds: [externalId] },
    });
    expect(got.data).toEqual({ matters: [], missing: [externalId] });
    const logged = await harmless(service, {
      path: 'push-logs/query',
      body: { idempotencyKey: externalId, operation: externalId, outcome: externalId },
    });
    expect(logged.data).toEqual({ entries: [], nextCursor: null });
  },
);

test('lines of a list of ids that are operators are rejected by their number', async () => {
  const lines = ['"KEPT"', '{"$ne":null}', '{"externalId":{"$ne":null}}', '["KEPT"]', '7'];
  const about = { path: 'matters/orphans', body: lines.join('\n') };
  const heard = await rejected(service, about, 'VALIDATION_FAILED');
  const named = heard.errors?.map(({ field }) => field);
  expect(named).toEqual(['line 2', 'line 3', 'line 4', 'line 5']);
});

/** No field of the contract, whatever a store or an object may make of it. */
const UNKNOWN = {
  $where: 'sleep(10000)',
  $set: { title: 'x', deleted: true },
  $unset: { title: 1 },
  $ne: null,
  'parties.0.username': 'bob',
  'a.b': { $ne: null },
  _id: { $ne: null },
  _bsontype: 'ObjectID',
  systemCode: { $ne: null },
  matterId: '1',
  revision: -1,
  deleted: true,
  phase: 'DELETED',
  assignedId: true,
  op: 'delete',
};

test.each(ENDPOINTS.map(({ path, valid }) => [path, valid] as const))(
  '%s: operators in the place of fields are ignored',
  async (path, valid) => {
    const plain = await send(service, { path, body: valid });
    const before = await stored('KEPT');
    const heard = await send(service, { path, body: { ...valid, ...UNKNOWN } });
    expect(heard.code).toBe(plain.code);
    // What the same push does when it comes once more is all that it did.
    const { updatedAt: _, revision: __, ...after } = (await stored('KEPT')) ?? {};
    expect(before).toMatchObject(after);
    expect(Object.keys(before ?? {})).toEqual(Object.keys((await stored('KEPT')) ?? {}));
    await expectAlive(service);
    await service.push('upsert', { ...KEPT, bizStatus: null });
  },
);

test('keys with $ and . within payloadJson are kept to the letter', async () => {
  const payloadJson =
    '{"$ne":null,"$where":"sleep(1)","a.b":{"$set":{"c.d":1}},"":[{"_bsontype":"Code"}],"__proto__":{"x":1},"$ne":2}';
  const body = { ...KEPT, externalId: 'PAYLOAD', payloadJson };
  expect(await send(service, { path: 'matters/upsert', body })).toMatchObject({ code: 0 });
  expect(await stored('PAYLOAD')).toMatchObject({ payloadJson });
  const got = await send(service, { path: 'matters/get', body: { externalIds: ['PAYLOAD'] } });
  expect(got.data).toMatchObject({ matters: [{ payloadJson }] });
});

const stored = (externalId: string) => matterModel(service.db).findOne({ externalId }).lean();
