/** `push-logs/resend` (contract 7.5): a client sends logged pushes of its own again, in order, with one effect. */
import { hash } from 'node:crypto';
import type { ResendData, ResendResult } from '../../../src/protocol/resend';
import { importUsers } from '../../../src/storage/directory/user-admin';
import { matterModel } from '../../../src/storage/ledger/matters';
import { bodyModel, entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import { makeConsoleKey } from '../../support/console-key';
import { aLogEntry } from '../../support/log-entries';
import { todo } from '../../support/push-bodies';
import { type Answer, type PushOptions, push } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

type ResendAnswer = Omit<Answer, 'data'> & { readonly data: ResendData };

let service: Service;
beforeAll(async () => {
  service = await startService({ processes: 'workers', workers: 2 });
});
afterAll(() => service?.stop());

const PATH = '/api/open/push-logs/resend';
const ask = async (body: object, options: Partial<PushOptions> = {}) =>
  (await service.push('', body, { path: PATH, ...options })) as unknown as ResendAnswer;
const resend = (ids: readonly string[], options?: Partial<PushOptions>) =>
  ask({ requestIds: ids }, options);
const resultsOf = (answer: ResendAnswer) => answer.data.results as ResendResult[];
const shortly = (answer: ResendAnswer) =>
  resultsOf(answer).map(({ sent, outcome, replayed, reason }) =>
    [sent ? 'sent' : 'not sent', replayed && 'replayed', outcome ?? reason]
      .filter(Boolean)
      .join(' '),
  );

/** Milliseconds between the receipts of two pushes that failed. */
const STEP = 1_000;
let received = Date.now() - 3_600_000;

/** A push that failed an hour ago because the database was unavailable. */
async function failed(
  operation: string,
  body: object,
  over: Partial<LogEntry> = {},
): Promise<string> {
  received += STEP;
  const bytes = Buffer.from(JSON.stringify(body));
  const { externalId } = body as { externalId?: string };
  const entry = aLogEntry(
    {
      ...{ clientId: service.clientId, secretId: 's1', operation },
      ...{ bodyHash: hash('sha256', bytes), bodySize: bytes.length },
      ...(externalId !== undefined && { externalId }),
      ...{ state: 'REFUSED', result: 'DATABASE_UNAVAILABLE', failure: 'DATABASE_UNAVAILABLE' },
      ...over,
    },
    received,
  );
  await entryModel(service.db).create(entry);
  const stored = { _id: entry._id, receivedAt: entry.receivedAt, body: bytes };
  await bodyModel(service.db).create(stored);
  return String(entry._id);
}
const failedUpsert = (externalId: string, title: string, over?: Partial<LogEntry>) =>
  failed('upsert', todo(externalId, { title }), over);

const matter = (externalId: string) =>
  matterModel(service.db).findOne({ externalId }).lean().exec();
const entryOf = (id: string | undefined) => entryModel(service.db).findById(id).lean().exec();
const counts = async () => ({
  entries: await entryModel(service.db).countDocuments(),
  bodies: await bodyModel(service.db).countDocuments(),
  matters: await matterModel(service.db).countDocuments(),
});

test('pushes of a matter take effect in the order in which they were received first', async () => {
  const first = await failedUpsert('ORDER', 'one');
  const second = await failedUpsert('ORDER', 'two');
  const third = await failed('status', { externalId: 'ORDER', bizStatus: 'DONE' });
  const answer = await resend([third, second, first]);
  expect(answer).toMatchObject({ status: 200, code: 0 });
  expect(answer.data).toMatchObject({ total: 3, succeeded: 3, failed: 0 });
  expect(shortly(answer)).toEqual(['sent UPDATED', 'sent UPDATED', 'sent CREATED']);
  expect(resultsOf(answer).map(({ line, resentFrom }) => [line, resentFrom])).toEqual([
    [1, third],
    [2, second],
    [3, first],
  ]);
  expect(await matter('ORDER')).toMatchObject({ title: 'two', bizStatus: 'DONE', revision: 3 });
});

test('each new push has an entry that names the push that it sends again', async () => {
  const id = await failedUpsert('ENTRY', 'x', { idempotencyKey: 'ENTRY/key' });
  const answer = await resend([id]);
  const [result] = resultsOf(answer);
  const entry = await entryOf(result?.requestId);
  expect(entry).toMatchObject({
    ...{ state: 'PERSISTED', result: 'CREATED', externalId: 'ENTRY', batchLine: 1 },
    ...{ clientId: service.clientId, secretId: expect.any(String) },
  });
  expect(String(entry?.resentFrom)).toBe(id);
  expect(String(entry?.batchId)).toBe(answer.requestId);
  expect(await bodyModel(service.db).countDocuments({ _id: result?.requestId })).toBe(1);
});

test('a dry run answers with the plan of the resend, and writes nothing', async () => {
  const good = await failedUpsert('DRY-1', 'good');
  const wrong = await failed('upsert', { ...todo('DRY-2'), bizStatus: 'no status' });
  const resolved = await failedUpsert('DRY-3', 'old');
  await service.push('upsert', todo('DRY-3', { title: 'new' }));
  const ids = [wrong, good, resolved, 'f'.repeat(24)];
  const before = await counts();
  const plan = await ask({ requestIds: ids, dryRun: true });
  expect(plan).toMatchObject({ status: 207, code: 207, reason: 'PARTIAL_FAILURE' });
  expect(await counts()).toEqual(before);
  expect(resultsOf(plan)).toMatchObject([
    { sent: true, code: 400, errors: [{ field: 'bizStatus' }], requestId: wrong },
    { sent: true, code: 0, externalId: 'DRY-1', requestId: good },
    { sent: false, code: 409, reason: 'RESOLVED_SINCE' },
    { sent: false, code: 404, reason: 'PUSH_NOT_FOUND', externalId: null },
  ]);
  const done = await ask({ requestIds: ids });
  const planOf = ({ sent, code, reason }: ResendResult) => ({ sent, code, reason });
  expect(resultsOf(done).map(planOf)).toEqual(resultsOf(plan).map(planOf));
  expect(await matter('DRY-3')).toMatchObject({ title: 'new' });
  expect(await entryOf(resultsOf(done)[0]?.requestId)).toMatchObject({ state: 'REFUSED' });
});

test('a push that took effect, or was sent again by its caller, is answered and not sent', async () => {
  const key = { idempotencyKey: 'EFFECT/key' };
  const lost = await failedUpsert('EFFECT', 'EFFECT', key);
  const persisted = await service.push('upsert', todo('EFFECT', { title: 'EFFECT' }), key);
  await service.push('upsert', todo('EFFECT', { title: 'later' }));
  const answer = await resend([lost, persisted.requestId]);
  expect(answer.code).toBe(0);
  expect(shortly(answer)).toEqual(['not sent replayed CREATED', 'not sent replayed CREATED']);
  for (const result of resultsOf(answer)) {
    const { matterId } = persisted.data;
    expect(result).toMatchObject({ requestId: persisted.requestId, matterId });
  }
  expect(await matter('EFFECT')).toMatchObject({ title: 'later', revision: 2 });
});

test('the second resend of a push gets the outcome of the first one', async () => {
  const id = await failed('upsert', { matterType: 'NOTICE', title: 'without an id' });
  const first = await resend([id]);
  const second = await resend([id]);
  expect(shortly(second)).toEqual(['not sent replayed CREATED']);
  const { requestId, externalId, matterId } = resultsOf(first)[0] as ResendResult;
  expect(externalId).toMatch(/^auto:/);
  expect(resultsOf(second)[0]).toMatchObject({ requestId, externalId, matterId });
  expect(await matterModel(service.db).countDocuments({ title: 'without an id' })).toBe(1);
});

test('resends at the same time have one effect', async () => {
  for (let round = 0; round < 5; round += 1) {
    const name = `RACE-${round}`;
    const ids = [await failedUpsert(name, 'x'), await failedUpsert(name, 'y')];
    const answers = await Promise.all(Array.from({ length: 4 }, () => resend(ids)));
    // Resends that meet are rejected; each can be sent again later.
    const reasons = answers.flatMap((answer) =>
      resultsOf(answer).flatMap(({ reason = [] }) => reason),
    );
    expect(reasons.filter((reason) => reason !== 'STILL_QUEUED')).toEqual([]);
    expect((await resend(ids)).code).toBe(0);
    expect(await matter(name)).toMatchObject({ title: 'y', revision: 2 });
  }
});

test('of two resends that meet before the workers apply one, no push takes effect after later ones', async () => {
  for (let round = 0; round < 3; round += 1) {
    const name = `MEET-${round}`;
    const early = await failed('delete', { externalId: name });
    const late = await failedUpsert(name, 'created after the delete');
    const filter = { externalId: name, resentFrom: { $exists: true } };
    for (const worker of service.workers) worker.kill('SIGSTOP');
    const both = Promise.all([resend([early, late]), resend([early, late])]);
    try {
      await until('pushes to be recorded', () => entryModel(service.db).exists(filter));
    } finally {
      for (const worker of service.workers) worker.kill('SIGCONT');
    }
    await both;
    await until('a resend that meets no other', async () => (await resend([late])).code === 0);
    expect(await matter(name)).toMatchObject({ deletedAt: null });
  }
});

test('an earlier use of the key counts only as long as the push repeats its result', async () => {
  const hour = 3_600_000;
  const body = todo('OLD-KEY', { title: 'same' });
  const bodyHash = hash('sha256', JSON.stringify(body));
  const use = {
    clientId: service.clientId,
    externalId: 'OLD-KEY',
    idempotencyKey: 'OLD-KEY/key',
    bodyHash,
  };
  const effect = { state: 'PERSISTED', result: 'CREATED' } as const;
  await entryModel(service.db).create(aLogEntry({ ...use, ...effect }, received - 72 * hour));
  const id = await failed('upsert', body, { idempotencyKey: 'OLD-KEY/key' });
  expect(shortly(await resend([id]))).toEqual(['sent CREATED']);
});

test('the resend of a failed resend is one of the first push', async () => {
  const id = await failed('upsert', {
    ...todo('AGAIN'),
    parties: [{ username: 'erin', partyRole: 'ASSIGNEE' }],
  });
  const refused = await resend([id]);
  expect(shortly(refused)).toEqual(['sent UNKNOWN_USER']);
  await importUsers(service.db, [{ username: 'erin', displayName: 'Erin' }]);
  const again = String(resultsOf(refused)[0]?.requestId);
  await until('the user to be known', async () => {
    const plan = await ask({ requestIds: [again], dryRun: true });
    return plan.code === 0;
  });
  const answer = await resend([again, id]);
  expect(shortly(answer)).toEqual(['sent CREATED', 'sent CREATED']);
  const [first, second] = resultsOf(answer);
  expect(first?.requestId).toBe(second?.requestId);
  expect(String((await entryOf(first?.requestId))?.resentFrom)).toBe(id);
  expect(shortly(await resend([again]))).toEqual(['not sent replayed CREATED']);
});

test('the rest of a matter that was sent in part is sent later', async () => {
  const first = await failedUpsert('PART', 'one');
  const rest = [await failedUpsert('PART', 'two'), await failedUpsert('PART', 'three')];
  expect((await resend([first])).code).toBe(0);
  const open = await service.push(
    '',
    { externalId: 'PART', stillFailed: true },
    {
      path: '/api/open/push-logs/query',
    },
  );
  const { entries } = open.data as unknown as { entries: { requestId: string }[] };
  expect(entries.map(({ requestId }) => requestId)).toEqual([...rest].reverse());
  expect(shortly(await resend([first, ...rest]))).toEqual([
    'not sent replayed CREATED',
    'sent UPDATED',
    'sent UPDATED',
  ]);
  expect(await matter('PART')).toMatchObject({ title: 'three', revision: 3 });
});

test('values replace invalid fields, and keep the order of the matter', async () => {
  const parties = (username: string) => [
    { username: 'alice', partyRole: 'CC' },
    { username, partyRole: 'ASSIGNEE' },
  ];
  const ids = [
    await failed('upsert', { ...todo('SET-1'), title: '', parties: parties('nobody') }),
    await failed('status', { externalId: 'SET-1', bizStatus: 'DONE' }),
    await failedUpsert('SET-2', 'stays'),
    await failed('upsert', { ...todo('SET-3'), pcUrl: 'no url' }),
  ];
  const title = { field: 'title', value: 'set' };
  const noUrl = { field: 'pcUrl', remove: true };
  const half = await ask({ requestIds: ids, dryRun: true, set: [title, noUrl] });
  expect(resultsOf(half)[0]).toMatchObject({
    ...{ sent: true, code: 400, reason: 'UNKNOWN_USER' },
    errors: [{ field: 'parties[1].username' }],
  });
  const set = [title, { field: 'parties[].username', value: 'bob' }, noUrl];
  const answer = await ask({ requestIds: ids, set });
  expect(shortly(answer)).toEqual([
    ...['sent CREATED', 'sent UPDATED', 'sent CREATED', 'sent CREATED'],
  ]);
  const [first] = resultsOf(answer);
  expect(await matter('SET-1')).toMatchObject({
    ...{ title: 'set', bizStatus: 'DONE' },
    parties: [{ username: 'alice' }, { username: 'bob' }],
  });
  expect(await matter('SET-2')).toMatchObject({ title: 'stays' });
  const [entry, before] = [await entryOf(first?.requestId), await entryOf(ids[0])];
  expect(String(entry?.resentFrom)).toBe(ids[0]);
  expect(entry?.bodyHash).not.toBe(before?.bodyHash);
  // All resends of a push have one effect, whatever their values are.
  const other = [{ field: 'title', value: 'other' }];
  expect(shortly(await ask({ requestIds: ids.slice(0, 1), set: other }))).toEqual([
    'not sent replayed CREATED',
  ]);
});

test('a push is not sent while a later one of its matter waits, or without its body', async () => {
  const early = await failedUpsert('WAITS', 'early');
  const gone = await failedUpsert('GONE', 'gone');
  await bodyModel(service.db).deleteOne({ _id: gone });
  await entryModel(service.db).create(
    aLogEntry({ clientId: service.clientId, secretId: 's1', externalId: 'WAITS' }),
  );
  const answer = await resend([early, gone]);
  expect(answer.retryable).toBe(true);
  expect(resultsOf(answer)).toMatchObject([
    {
      sent: false,
      code: 409,
      reason: 'STILL_QUEUED',
      retryable: true,
      requestId: expect.anything(),
    },
    { sent: false, code: 409, reason: 'BODY_NOT_STORED', retryable: false, requestId: gone },
  ]);
  expect(await matter('WAITS')).toBeNull();
});

test('older than the ledger, it is ignored as stale; deleted, the matter is treated as by any push', async () => {
  await service.push('upsert', todo('STALE', { sourceUpdatedAt: 1_770_000_000 }));
  await service.push('upsert', todo('DELETED'));
  await service.push('delete', { externalId: 'DELETED' });
  await entryModel(service.db).deleteMany({ externalId: { $in: ['STALE', 'DELETED'] } });
  const ids = [
    await failed('upsert', { ...todo('STALE'), sourceUpdatedAt: 1_760_000_000 }),
    await failed('status', { externalId: 'DELETED', bizStatus: 'DONE' }),
  ];
  const answer = await resend(ids);
  expect(shortly(answer)).toEqual(['sent STALE_IGNORED', 'sent MATTER_DELETED']);
});

test('a push of another client, a query, and what nobody signed are not there', async () => {
  const ids = [
    await failedUpsert('OTHER', 'x', { clientId: 'another' }),
    await failed('push-logs/query', {}),
    await failedUpsert('FORGED', 'x', { result: 'SIGNATURE_MISMATCH' }),
    await failedUpsert('UNSIGNED', 'x', { secretId: undefined } as Partial<LogEntry>),
    'f'.repeat(24),
  ];
  const results = resultsOf(await resend(ids));
  expect(results).toEqual(
    ids.map((resentFrom, index) => ({
      ...{ line: index + 1, code: 404, reason: 'PUSH_NOT_FOUND', retryable: false },
      ...{ message: '没有可重发的该次推送', requestId: resentFrom, externalId: null },
      ...{ resentFrom, sent: false },
    })),
  );
  expect(await matterModel(service.db).countDocuments({ externalId: 'OTHER' })).toBe(0);
  const headers = { 'Accept-Language': 'en' };
  const english = resultsOf(await resend(ids.slice(0, 1), { headers }));
  expect(english[0]?.message).toBe('not sent: the log has no such push of this client');
});

test('a query key without the push scope gets 403, which is logged; one with it may resend', async () => {
  const id = await failedUpsert('SCOPE', 'x');
  const reader = await makeConsoleKey(service);
  const body = { requestIds: [id] };
  for (const dryRun of [true, false]) {
    const answer = await ask({ ...body, dryRun }, { secret: reader.key });
    expect(answer).toMatchObject({ status: 403, reason: 'SCOPE_NOT_ALLOWED', data: null });
  }
  await until('the entry of the request', () =>
    entryModel(service.db).findOne({ operation: 'push-logs/resend', result: 'SCOPE_NOT_ALLOWED' }),
  );
  const { entries } = (
    await service.push(
      '',
      { stillFailed: true, reason: 'SCOPE_NOT_ALLOWED' },
      {
        path: '/api/open/push-logs/query',
      },
    )
  ).data as unknown as { entries: unknown[] };
  expect(entries).toEqual([]);
  const pusher = await makeConsoleKey(service, '--may-push');
  expect(shortly(await ask(body, { secret: pusher.key }))).toEqual(['sent CREATED']);
});

test.each([
  [{}, 'requestIds'],
  [{ requestIds: [] }, 'requestIds'],
  [{ requestIds: Array(101).fill('f'.repeat(24)) }, 'requestIds'],
  [{ requestIds: ['no id'] }, 'requestIds[0]'],
  [{ requestIds: ['f'.repeat(24)], dryRun: 'yes' }, 'dryRun'],
  [{ requestIds: ['f'.repeat(24)], dryrun: true }, 'dryrun'],
  [{ requestIds: ['f'.repeat(24)], set: [{ field: 'a b', value: 1 }] }, 'set[0].field'],
  [{ requestIds: ['f'.repeat(24)], set: [{ field: 'externalId', value: 1 }] }, 'set[0].field'],
  [
    { requestIds: ['f'.repeat(24)], set: [{ field: 'title', vaule: 'x', value: 1 }] },
    'set[0].vaule',
  ],
])('%j is rejected, naming %s', async (body, field) => {
  const answer = await ask(body);
  expect(answer).toMatchObject({ status: 400, reason: 'VALIDATION_FAILED' });
  expect(answer.errors?.map((error) => error.field)).toEqual([field]);
  const entry = await entryOf(answer.requestId);
  expect(entry).toMatchObject({ operation: 'push-logs/resend', result: 'VALIDATION_FAILED' });
});

test('more requests at once than bodies fit into memory are rejected as retryable', async () => {
  const ids = await Promise.all(['BUSY-1', 'BUSY-2'].map((name) => failedUpsert(name, 'x')));
  const reasons = await until('a rejection', async () => {
    const asked = Array.from({ length: 40 }, () => ask({ requestIds: ids, dryRun: true }));
    const found = new Set((await Promise.all(asked)).map(({ code, reason }) => reason ?? code));
    return found.size > 1 && found;
  });
  expect([...reasons].sort()).toEqual([0, 'TOO_MANY_QUERIES']);
  expect((await ask({ requestIds: ids, dryRun: true })).code).toBe(0);
});

test('bodies that are too large together are rejected as a whole', async () => {
  const large = { bodySize: 5 * 1024 * 1024 };
  const ids = [
    await failedUpsert('LARGE-1', 'x', large),
    await failedUpsert('LARGE-2', 'x', large),
  ];
  const answer = await resend(ids);
  expect(answer).toMatchObject({ status: 413, reason: 'BODY_TOO_LARGE', data: null });
  expect(answer.errors?.[0]?.field).toBe('requestIds');
  expect((await resend(ids.slice(0, 1))).code).toBe(0);
});

test('after a SIGKILL of the workers in the middle, every push has its effect once', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 100; n += 1) ids.push(await failedUpsert(`KILL-${n % 10}`, `title ${n}`));
  const answering = Promise.all([resend(ids), resend(ids)]);
  await until('pushes to be queued', () =>
    entryModel(service.db).exists({ externalId: /^KILL-/, resentFrom: { $exists: true } }),
  );
  const victims = service.workers.splice(0);
  for (const victim of victims) victim.kill('SIGKILL');
  await Promise.all(victims.map((victim) => victim.exited));
  await Promise.all([service.startWorker(), service.startWorker()]);
  await answering;
  // A new worker may still be taking over.
  await until('all of them', async () => (await resend(ids)).code === 0);
  for (let n = 0; n < 10; n += 1) {
    expect(await matter(`KILL-${n}`)).toMatchObject({ title: `title ${90 + n}`, revision: 10 });
  }
});

test('it counts as the pushes that it names, a dry run as one; the status can be 200 always', async () => {
  const env = { RATE_LIMIT: '1', RATE_BURST: '100', HTTP_STATUS_MODE: 'always-200' };
  const limited = await service.startWeb(env);
  const url = String(limited.url);
  const { clientId, secret } = service;
  const leftAfter = async (body: object) => {
    const answer = await push({ url, clientId, secret, operation: '', body, path: PATH });
    expect(answer).toMatchObject({ status: 200, code: 207 });
    return Number(/r=(\d+)/.exec(String(answer.headers.ratelimit))?.[1]);
  };
  const requestIds = Array.from({ length: 40 }, (_, n) => n.toString(16).padStart(24, 'f'));
  const afterPlan = await leftAfter({ requestIds, dryRun: true });
  expect(afterPlan).toBe(99);
  const left = await leftAfter({ requestIds });
  // A busy machine gives the client more of its rate meanwhile.
  expect(left).toBeGreaterThanOrEqual(59);
  expect(left).toBeLessThan(90);
});
