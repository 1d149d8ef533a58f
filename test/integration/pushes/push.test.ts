/** The four operations through HTTP, signed, against real servers: what callers see and what stays. */
import { userModel } from '../../../src/storage/directory/user-model';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const assigned = (externalId: string, more: object = {}) =>
  todo(externalId, { parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }], ...more });
const stored = (externalId: string) => matterModel(service.db).findOne({ externalId }).lean();
const entryOf = (requestId: string) => entryModel(service.db).findById(requestId).lean();

describe('the life of a matter', () => {
  test('is created, changed, concluded, re-opened, deleted and revived under one matterId', async () => {
    const steps = [
      ['upsert', assigned('LIFE'), 'CREATED', 'PENDING', 'OPEN'],
      ['upsert', assigned('LIFE', { bizStatus: 'PROCESSING' }), 'UPDATED', 'PROCESSING', 'OPEN'],
      ['status', { externalId: 'LIFE', bizStatus: 'DONE' }, 'UPDATED', 'DONE', 'CONCLUDED'],
      ['reopen', { externalId: 'LIFE', bizStatus: '' }, 'UPDATED', 'REOPENED', 'OPEN'],
      ['delete', { externalId: 'LIFE', n: 1 }, 'DELETED', 'REOPENED', 'DELETED'],
      ['delete', { externalId: 'LIFE', n: 2 }, 'ALREADY_DELETED', 'REOPENED', 'DELETED'],
      ['upsert', assigned('LIFE', { bizStatus: 'DRAFT' }), 'REVIVED', 'DRAFT', 'DRAFT'],
    ] as const;
    const ids = new Set<string>();
    for (const [operation, body, outcome, bizStatus, phase] of steps) {
      const answer = await service.push(operation, body);
      expect(answer).toMatchObject({ code: 0, status: 200, data: { outcome, externalId: 'LIFE' } });
      expect(await stored('LIFE')).toMatchObject({ bizStatus, phase });
      ids.add(answer.data.matterId);
    }
    expect(ids.size).toBe(1);
    expect([...ids][0]).toMatch(/^\d{15,19}$/);
  });

  test('a party gets the display name of the directory and starts unread', async () => {
    await service.push('upsert', assigned('PARTY'));
    expect((await stored('PARTY'))?.parties).toEqual([
      { username: 'alice', partyRole: 'ASSIGNEE', displayName: 'ALICE', unread: true },
    ]);
  });

  test('an older sourceUpdatedAt changes nothing and still succeeds', async () => {
    await service.push(
      'upsert',
      assigned('STALE', { sourceUpdatedAt: '2026-01-02T00:00:00+08:00' }),
    );
    const before = await stored('STALE');
    const late = { sourceUpdatedAt: '2026-01-01 23:59:59', title: 'old', parties: [] };
    const answer = await service.push('upsert', assigned('STALE', late));
    expect(answer).toMatchObject({ code: 0, data: { outcome: 'STALE_IGNORED' } });
    expect(answer.data.matterId).toBe(String(before?._id));
    expect(await stored('STALE')).toEqual(before);
  });

  test('a notice without externalId gets one that its retry gets again', async () => {
    const notice = { matterType: 'NOTICE', title: '公告' };
    const first = await service.push('upsert', notice, { idempotencyKey: 'notice-1' });
    const retry = await service.push('upsert', notice, { idempotencyKey: 'notice-1' });
    expect(first.data.externalId).toMatch(/^auto:[0-9a-f]{32}$/);
    expect(retry.data).toEqual(first.data);
    const used = { externalId: first.data.externalId, bizStatus: 'DONE' };
    expect(await service.push('status', used)).toMatchObject({ code: 0 });
  });
});

describe('what is not there', () => {
  test.each(['status', 'reopen', 'delete'])('%s of an unknown matter is 404', async (operation) => {
    const answer = await service.push(operation, { externalId: `NONE-${operation}` });
    expect(answer).toMatchObject({
      code: 404,
      status: 404,
      message: `事项不存在: TEST/NONE-${operation}`,
      reason: 'MATTER_NOT_FOUND',
    });
    expect(await entryOf(answer.requestId)).toMatchObject({ state: 'REFUSED' });
  });

  test.each(['status', 'reopen'])('%s of a deleted matter is 404', async (operation) => {
    const externalId = `GONE-${operation}`;
    await service.push('upsert', assigned(externalId));
    await service.push('delete', { externalId });
    const answer = await service.push(operation, { externalId, bizStatus: 'PENDING' });
    const message = `事项不存在: TEST/${externalId}`;
    expect(answer).toMatchObject({ code: 404, message, reason: 'MATTER_DELETED' });
  });

  test('nobody can take an externalId of the reserved form', async () => {
    const answer = await service.push('upsert', assigned('auto:mine'));
    const errors = [{ field: 'externalId', message: expect.any(String) }];
    expect(answer).toMatchObject({ code: 400, reason: 'EXTERNAL_ID_RESERVED', errors });
  });
});

describe('the push log', () => {
  test('has the entry of a push, with what it came to', async () => {
    const answer = await service.push('upsert', assigned('LOGGED'), { idempotencyKey: 'logged-1' });
    expect(await entryOf(answer.requestId)).toMatchObject({
      clientId: 'tester',
      systemCode: 'TEST',
      operation: 'upsert',
      externalId: 'LOGGED',
      idempotencyKey: 'logged-1',
      bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      secretId: expect.any(String),
      receivedAt: expect.any(Date),
      state: 'PERSISTED',
      result: 'CREATED',
      revision: 1,
    });
  });

  test('a retry with the same key and body is answered with the first outcome, not applied', async () => {
    const body = { externalId: 'RETRY', bizStatus: 'DONE' };
    await service.push('upsert', assigned('RETRY'));
    const first = await service.push('status', body, { idempotencyKey: 'retry-1' });
    await service.push('reopen', { externalId: 'RETRY' });
    const late = await service.push('status', body, { idempotencyKey: 'retry-1' });
    expect(late.data).toEqual(first.data);
    expect(late.headers['idempotency-replayed']).toBe('true');
    expect(await stored('RETRY')).toMatchObject({ bizStatus: 'REOPENED' });
    const entry = await entryOf(late.requestId);
    expect(entry).toMatchObject({ state: 'REPLAYED' });
    expect(String(entry?.duplicateOf)).toBe(first.requestId);
  });

  test('a retry is answered with the first outcome even where its party has left since', async () => {
    const users = userModel(service.db);
    await users.create({ _id: 'leaver', displayName: 'Leaver', enabled: true });
    const body = assigned('LEFT', { parties: [{ username: 'leaver', partyRole: 'CC' }] });
    const first = await service.push('upsert', body, { idempotencyKey: 'left-1' });
    await users.updateOne({ _id: 'leaver' }, { $set: { enabled: false } });
    await service.startWeb();
    const elsewhere = { url: service.urlOf(1) };
    const other = await service.push('upsert', body, elsewhere);
    expect(other).toMatchObject({ code: 400, reason: 'UNKNOWN_USER' });
    const retry = await service.push('upsert', body, { ...elsewhere, idempotencyKey: 'left-1' });
    expect(retry).toMatchObject({ code: 0, data: first.data });
    expect(retry.headers['idempotency-replayed']).toBe('true');
    expect(await entryOf(retry.requestId)).toMatchObject({ state: 'REPLAYED', externalId: 'LEFT' });
  });

  test('two notices under one key are two matters, each retry of them is none', async () => {
    const send = (title: string) =>
      service.push('upsert', { matterType: 'NOTICE', title }, { idempotencyKey: 'notices' });
    const ids = [await send('one'), await send('two'), await send('one')].map(
      ({ data }) => data.externalId,
    );
    expect(ids[1]).not.toBe(ids[0]);
    expect(ids[2]).toBe(ids[0]);
  });

  test('the same key with another body is a new push, marked KEY_REUSED', async () => {
    await service.push('upsert', assigned('REUSE'), { idempotencyKey: 'reuse-1' });
    const other = await service.push('upsert', assigned('REUSE-2'), { idempotencyKey: 'reuse-1' });
    expect(other.data.outcome).toBe('CREATED');
    expect(await entryOf(other.requestId)).toMatchObject({
      state: 'PERSISTED',
      mark: 'KEY_REUSED',
    });
  });

  test('a failure is never replayed', async () => {
    const body = { externalId: 'LATER', bizStatus: 'DONE' };
    const failed = await service.push('status', body, { idempotencyKey: 'later-1' });
    await service.push('upsert', assigned('LATER'));
    const again = await service.push('status', body, { idempotencyKey: 'later-1' });
    expect([failed.code, again.code]).toEqual([404, 0]);
    expect(again.headers['idempotency-replayed']).toBeUndefined();
  });
});

describe('the envelope', () => {
  test.each([
    ['an unknown path', { path: '/api/open/matters/nope' }, 404, 'PATH_NOT_FOUND'],
    ['another method', { method: 'PUT' }, 405, 'METHOD_NOT_ALLOWED'],
    ['TRACE', { method: 'TRACE' }, 405, 'METHOD_NOT_ALLOWED'],
    ['OPTIONS', { method: 'OPTIONS' }, 405, 'METHOD_NOT_ALLOWED'],
    ['an unknown expectation', { headers: { Expect: 'wonders' }, body: '' }, 400, 'INVALID_JSON'],
    ['malformed JSON', { body: '{"externalId":' }, 400, 'INVALID_JSON'],
    ['an empty body', { body: '' }, 400, 'INVALID_JSON'],
  ])('%s answers in the same form', async (_name, options, code, reason) => {
    const answer = await service.push('status', {}, options);
    expect(answer).toMatchObject({ status: code, code, reason, data: null });
    expect(answer.requestId).toMatch(/^[0-9a-f]{24}$/);
    expect(Number.isNaN(Date.parse(answer.timestamp))).toBe(false);
  });

  test('warnings name what was accepted but looks wrong', async () => {
    const odd = { bizStatus: 'ODD_STATUS', initiatorUsername: 'nobody' };
    const answer = await service.push('upsert', assigned('WARN', odd));
    const fields = (answer.data.warnings as { field: string }[]).map(({ field }) => field);
    expect(fields.sort()).toEqual(['bizStatus', 'initiatorUsername']);
  });
});
