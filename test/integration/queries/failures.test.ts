/** push-logs/failures through HTTP: which pushes failed, why, and whether a later push mended them. */
import type { Types } from 'mongoose';
import { nativeCollection } from '../../../src/infra/mongo';
import type { Failures } from '../../../src/protocol/failures';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { resultOf } from '../../../src/storage/push-log';
import { entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import { aLogEntry } from '../../support/log-entries';
import { todo } from '../../support/push-bodies';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

const DAY = 86_400_000;
const systemCode = 'FAILURES';
let service: SharedService;
beforeAll(async () => {
  service = await sharedService(systemCode);
});
afterAll(() => service.stop());

const ask = (name: string, body: unknown) => service.push('', body, { path: `/api/open/${name}` });
const failures = async (body: object) => {
  const answer = await ask('push-logs/failures', body);
  if (answer.code !== 0) throw new Error(JSON.stringify(answer));
  return answer.data as unknown as Failures;
};
const upsert = (externalId: string, more: object = {}, idempotencyKey?: string) =>
  service.push('upsert', todo(externalId, { title: externalId, ...more }), { idempotencyKey });
const nobody = (n: number) => ({ parties: [{ username: `nobody-${n}`, partyRole: 'ASSIGNEE' }] });
/** Everything that was received since a moment, by the order of receipt. */
const since = (from: number) => ({ from });

test('by reason and field, and for each matter whether a later push mended it', async () => {
  const from = Date.now();
  const first = await upsert('F-1', { title: '', bizStatus: 'lower' });
  const again = await upsert('F-1', { title: '' });
  const mending = await upsert('F-1');
  const open = await upsert('F-2', { ...nobody(0) });
  const missing = await service.push('status', { externalId: 'F-3', bizStatus: 'DONE' });
  const all = await failures(since(from));
  expect(all).toMatchObject({
    totals: { pushes: 4, matters: 3, stillFailed: 2 },
    moreGroups: 0,
    complete: true,
    nextCursor: null,
  });
  const told = all.groups.map(({ reason, field, ...counts }) => [
    `${reason} ${field}`,
    counts.pushes,
    counts.matters,
    counts.stillFailed,
  ]);
  expect(told[0]).toEqual(['VALIDATION_FAILED title', 2, 1, 0]);
  expect(new Set(told.slice(1).map(String))).toEqual(
    new Set([
      'VALIDATION_FAILED bizStatus,1,1,0',
      'UNKNOWN_USER parties[].username,1,1,1',
      'MATTER_NOT_FOUND null,1,1,1',
    ]),
  );
  expect(all.groups[0]?.samples).toEqual([
    { requestId: again.requestId, externalId: 'F-1' },
    { requestId: first.requestId, externalId: 'F-1' },
  ]);
  expect(all.rows.map(({ requestId }) => requestId)).toEqual(
    [missing, open, again].map(({ requestId }) => requestId),
  );
  expect(all.rows[2]).toMatchObject({
    externalId: 'F-1',
    failures: 2,
    fields: ['title'],
    problems: [{ field: 'title', message: '不能为空' }],
    mended: { requestId: mending.requestId, outcome: 'CREATED' },
  });
  const still = await failures({ ...since(from), stillFailed: true });
  expect(still.rows.map(({ externalId }) => externalId)).toEqual(['F-3', 'F-2']);
  expect(still.totals).toEqual({ pushes: 2, matters: 2, stillFailed: 2 });
  const ofOne = await failures({ ...since(from), reason: ['UNKNOWN_USER', 'PARTITION_FULL'] });
  expect(ofOne.rows.map(({ externalId }) => externalId)).toEqual(['F-2']);
});

test('a push before the failure mends nothing; one that was stale or repeated does', async () => {
  await upsert('F-4', { sourceUpdatedAt: '2024-06-02T00:00:00Z' }, 'F-4/1');
  const from = Date.now();
  await upsert('F-4', { title: '' });
  expect((await failures(since(from))).rows[0]?.mended).toBeNull();
  const stale = await upsert('F-4', { sourceUpdatedAt: '2024-06-01T00:00:00Z' });
  const replayed = await upsert('F-4', { sourceUpdatedAt: '2024-06-02T00:00:00Z' }, 'F-4/1');
  expect(replayed.headers['idempotency-replayed']).toBe('true');
  expect((await failures(since(from))).rows[0]?.mended).toMatchObject({
    requestId: stale.requestId,
    outcome: 'STALE_IGNORED',
  });
});

test('without a matter the key counts, of the same operation; without both, the push alone', async () => {
  const from = Date.now();
  const notice = { matterType: 'NOTICE', title: '' };
  await service.push('upsert', notice, { idempotencyKey: 'F-5' });
  await service.push('upsert', notice, { idempotencyKey: 'F-6' });
  await service.push('upsert', 'no json', {});
  await service.push('upsert', 'no json either', {});
  const mended = await service.push(
    'upsert',
    { ...notice, title: 'now' },
    { idempotencyKey: 'F-5' },
  );
  await service.push('delete', { externalId: 'F-1', n: 1 }, { idempotencyKey: 'F-6' });
  const { rows, totals } = await failures(since(from));
  expect(totals).toEqual({ pushes: 4, matters: 4, stillFailed: 3 });
  const byKey = new Map(rows.map((row) => [row.idempotencyKey, row.mended?.requestId]));
  expect(byKey).toEqual(
    new Map([
      [null, undefined],
      ['F-5', mended.requestId],
      ['F-6', undefined],
    ]),
  );
});

test('without a key, the one under which the console sends it counts, of any client of the system', async () => {
  const from = Date.now();
  const admin = createClientAdmin(
    service.db,
    createKeyRing([service.env.SECRET_KEYS ?? '']),
    Date.now,
  );
  const { secret } = await admin.create({ clientId: 'beside', systemCode });
  const beside = { clientId: 'beside', secret: String(secret) };
  await until('the client', async () => {
    const path = '/api/open/clients/me';
    return (await service.push('', {}, { path, ...beside })).code === 0;
  });
  const matterless = await service.push('upsert', 'no json');
  const mistyped = await service.push('status', { externalId: 'F-typo', bizStatus: 'DONE' });
  const open = await service.push('upsert', 'no json either');
  const again = { idempotencyKey: `console/${matterless.requestId}`, ...beside };
  // Under its key it failed once more, and that one is mended with it.
  const failedAgain = await service.push('upsert', 'still no json', again);
  const mending = await service.push('upsert', todo('F-20'), again);
  const retyped = await service.push(
    'status',
    { externalId: 'F-20', bizStatus: 'DONE' },
    { idempotencyKey: `console/${mistyped.requestId}` },
  );
  // Of another operation it is not the same push.
  await service.push(
    'status',
    { externalId: 'F-20', bizStatus: 'DONE' },
    { idempotencyKey: `console/${open.requestId}` },
  );
  const { rows } = await failures(since(from));
  expect(new Map(rows.map((row) => [row.requestId, row.mended?.requestId]))).toEqual(
    new Map([
      [matterless.requestId, mending.requestId],
      [mistyped.requestId, retyped.requestId],
      [open.requestId, undefined],
      [failedAgain.requestId, mending.requestId],
    ]),
  );
  const still = await ask('push-logs/query', { from, stillFailed: true });
  expect(still.data).toMatchObject({ entries: [{ requestId: open.requestId }] });
});

test("without a matter, an operator's resend counts by its link", async () => {
  const from = Date.now();
  const log = nativeCollection<LogEntry>(entryModel(service.db));
  const by = { clientId: service.clientId, systemCode };
  const rejection = resultOf({ state: 'REFUSED', reason: 'BACKLOG_FULL' });
  const failed = [1, 2].map(() => aLogEntry({ ...by, ...rejection }));
  const resend = aLogEntry({
    ...{ ...by, externalId: 'auto:1', resentFrom: failed[0]?._id as Types.ObjectId },
    ...{ state: 'PERSISTED', result: 'CREATED', settledAt: new Date() },
  });
  await log.insertMany([...failed, resend]);
  const { rows } = await failures(since(from));
  expect(rows.map(({ mended }) => mended?.requestId)).toEqual([undefined, String(resend._id)]);
});

test('a batch rejected as a whole is told apart: nothing could be seen to mend it', async () => {
  const from = Date.now();
  const path = '/api/open/matters/batch';
  const whole = await service.push('', '\n', { path });
  const keyed = await service.push('', '\n', { path, idempotencyKey: 'F-10' });
  expect([whole.reason, keyed.reason]).toEqual(['EMPTY_BATCH', 'EMPTY_BATCH']);
  // Its line is a push of its own, and still failed.
  await service.push('', 'no json\n', { path });
  const all = await failures(since(from));
  expect(all).toMatchObject({
    totals: { pushes: 3, matters: 3, stillFailed: 1 },
    refusedBatches: 2,
  });
  expect(all.rows.map(({ reason, refusedBatch }) => [reason, refusedBatch])).toEqual([
    ['INVALID_JSON', false],
    ['EMPTY_BATCH', true],
    ['EMPTY_BATCH', true],
  ]);
  const still = await failures({ ...since(from), stillFailed: true });
  expect(still.totals).toEqual({ pushes: 1, matters: 1, stillFailed: 1 });
  expect(still.groups.map(({ reason }) => reason)).toEqual(['INVALID_JSON']);
  expect(still).toMatchObject({ refusedBatches: 2, rows: [{ reason: 'INVALID_JSON' }] });
  const { data } = await ask('push-logs/query', { from, stillFailed: true, count: true });
  expect(data).toMatchObject({ entries: [{ reason: 'INVALID_JSON' }], count: { value: 1 } });
});

test('rejections that anybody could cause are told only where they are asked for', async () => {
  const from = Date.now();
  const { requestId } = await service.push('upsert', todo('F-7'), { secret: 'wrong' });
  const asked = { ...since(from), reason: 'SIGNATURE_MISMATCH' };
  // Recorded at some moment of the next second.
  await until('its entry', async () => (await failures(asked)).rows.length > 0);
  expect((await failures(asked)).rows[0]).toMatchObject({ requestId, mended: null });
  expect((await failures(since(from))).rows).toEqual([]);
});

describe('a day of many pushes', () => {
  const DAY_BEGINS = Date.now() - 5 * DAY;
  const PUSHES = 6_000;
  const FAILED = 99;
  const entry = (at: number, more: Partial<LogEntry>) => {
    const by = { clientId: service.clientId, systemCode };
    const ended = { state: 'PERSISTED', result: 'UPDATED', settledAt: new Date(at + 5) } as const;
    return aLogEntry({ ...by, ...ended, ...more }, at);
  };
  const failed = (at: number, externalId: string) =>
    entry(at, {
      externalId,
      ...resultOf({ state: 'REFUSED', reason: 'VALIDATION_FAILED' }),
      problems: [{ field: 'title', message: 'no' }],
    });
  const window = { from: DAY_BEGINS, to: DAY_BEGINS + DAY };

  beforeAll(async () => {
    const step = DAY / PUSHES;
    const entries = Array.from({ length: PUSHES }, (_, n) =>
      entry(DAY_BEGINS + n * step, { externalId: `D-${n % 1_000}` }),
    );
    for (let n = 0; n < FAILED; n += 1) {
      entries.push(failed(DAY_BEGINS + n * 1_000, `X-${n}`));
      // Every third one was mended, the day after.
      if (n % 3 === 0) {
        entries.push(entry(DAY_BEGINS + DAY + n, { externalId: `X-${n}`, result: 'CREATED' }));
      }
    }
    await nativeCollection<LogEntry>(entryModel(service.db)).insertMany(entries);
  });

  test('all its failures are one answer, found along indexes alone', async () => {
    await service.db.db?.command({ profile: 2 });
    const all = await failures(window);
    await service.db.db?.command({ profile: 0 });
    expect(all).toMatchObject({
      complete: true,
      totals: { pushes: FAILED, matters: FAILED, stillFailed: 66 },
    });
    expect(all.rows).toHaveLength(FAILED);
    const profile = service.db.collection('system.profile');
    // Beside them the sweep of lost pushes may look for the end of its step, and write; and the web process may
    // look whether the indexes exist.
    const ofOthers = [
      { op: 'update' },
      { 'command.skip': { $exists: true } },
      { 'command.listIndexes': { $exists: true } },
    ];
    const reads = await profile.find({ ns: /push_log$/, $nor: ofOthers }).toArray();
    await profile.drop();
    const about = reads.map(({ op, command }) => `${op} ${Object.keys(command)[0]}`);
    // The failures, what mended their matters, and what was sent under a key of the console.
    expect(about).toEqual(['query find', 'query find', 'query find']);
    const looked = reads.reduce((sum, { docsExamined }) => sum + docsExamined, 0);
    // Each failure, found and looked up; and what mended a third of them.
    expect(looked).toBeLessThanOrEqual(3 * FAILED);
  });

  test('pages by rows: each matter once, and it says that there is more', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: Failures = await failures({ ...window, limit: 40, ...(cursor && { cursor }) });
      expect(page.complete).toBe(page.nextCursor === null);
      seen.push(...page.rows.map(({ externalId }) => String(externalId)));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor);
    expect(pages).toBe(3);
    expect(seen).toEqual(Array.from({ length: FAILED }, (_, n) => `X-${FAILED - 1 - n}`));
  });

  test('a cursor is good for what may be left out, not for another window', async () => {
    const { nextCursor: cursor } = await failures({ ...window, limit: 40 });
    const still = await failures({ ...window, limit: 40, stillFailed: true, cursor });
    expect(still.rows.length).toBeLessThan(40);
    const other = await ask('push-logs/failures', { from: window.from, limit: 40, cursor });
    expect(other).toMatchObject({ code: 400, errors: [{ field: 'cursor' }] });
  });
});

test.each([
  ['from', { from: 'yesterday' }],
  ['to', { from: '2024-06-02T00:00:00Z', to: '2024-06-01T00:00:00Z' }],
  ['reason', { reason: { $ne: null } }],
  ['stillFailed', { stillFailed: 'yes' }],
  ['limit', { limit: 501 }],
])('a bad %s is rejected by name', async (field, body) => {
  const answer = await ask('push-logs/failures', body);
  expect(answer).toMatchObject({ code: 400, reason: 'VALIDATION_FAILED' });
  expect(answer.errors?.map((error) => error.field)).toEqual([field]);
});
