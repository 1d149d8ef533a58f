/** Why a line, or a batch, is not persisted: every cause, by the answer that its sender gets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchData } from '../../../src/protocol/batch';
import { BATCH } from '../../../src/protocol/paths';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { countModel } from '../../../src/storage/push-log/read-counts';
import { type RunningServer, startMongo, startRedis } from '../../../tools/local/servers';
import { storedMatter } from '../../support/ledger-check';
import { notice, pushLine } from '../../support/push-bodies';
import type { Answer, PushOptions } from '../../support/pusher';
import { connectRaw, rawPush } from '../../support/raw-http';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-batches-'));
let redis: RunningServer;
let mongo: RunningServer;
let service: Service;
/** A web whose callers do not wait for long. */
let hasty: { url: string };
beforeAll(async () => {
  [redis, mongo] = await Promise.all([
    startRedis({ dir: path.join(dir, 'redis') }),
    startMongo({ dir: path.join(dir, 'mongo') }),
  ]);
  const env = { PARTITION_LIMIT: String(ROOM) };
  service = await startService({
    processes: 'workers',
    redisUrl: redis.url,
    mongoUrl: mongo.url,
    env,
  });
  const web = await service.startWeb({ BATCH_TIMEOUT: '8s', PUSH_TIMEOUT: '8s' });
  hasty = { url: String(web.url) };
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([redis?.stop(), mongo?.stop()]);
  rmSync(dir, { recursive: true, force: true });
});

/** Pushes that a partition holds: enough for what other tests put into one by chance. */
const ROOM = 12;

type BatchAnswer = Omit<Answer, 'data'> & { readonly data: BatchData | null };

const upsert = (externalId: string, more: object = {}, key?: string) =>
  pushLine('upsert', notice(externalId, more), { key });
const send = async (lines: readonly string[], options: Partial<PushOptions> = {}) =>
  (await service.push('batch', `${lines.join('\n')}\n`, options)) as unknown as BatchAnswer;
const shortly = ({ data }: Pick<BatchAnswer, 'data'>) =>
  data?.results.map(({ line, outcome, reason }) => `${line} ${outcome ?? reason}`);
const entriesOf = (externalId: RegExp) =>
  entryModel(service.db).find({ externalId }).sort({ _id: 1 }).lean();
const admin = () =>
  createClientAdmin(service.db, createKeyRing([String(service.env.SECRET_KEYS)]), Date.now);
const untilSettled = () =>
  until(
    'every entry to be settled',
    async () => (await entryModel(service.db).countDocuments({ state: 'QUEUED' })) === 0,
  );

/** As `push-logs/stats` counts them. */
const untilCounted = (reason: string, pushes: number) =>
  until(`${pushes} pushes of ${reason}`, async () => {
    const counted = await countModel(service.db).find({ operation: BATCH, result: reason }).lean();
    const sum = counted.reduce((all, count) => all + (count.pushes ?? 0), 0);
    return sum >= pushes && sum;
  }).then((sum) => expect(sum).toBe(pushes));

describe('of a line', () => {
  test('an earlier push with its key and body: replayed; with another body it is a push of its own', async () => {
    await send([upsert('K-1', {}, 'k1')]);
    const again = await send([upsert('K-1', {}, 'k1'), upsert('K-2', {}, 'k1 of another')]);
    expect(shortly(again)).toEqual(['1 CREATED', '2 CREATED']);
    expect(again.data?.results.map(({ replayed }) => replayed)).toEqual([true, undefined]);
    const reused = await send([upsert('K-1', { title: 'other' }, 'k1'), upsert('K-1')]);
    expect(reused.data?.results.map(({ code }) => code)).toEqual([0, 0]);
    expect(await storedMatter(service.db, 'K-1')).toMatchObject({ title: 'x' });
  });

  test('a single push with the same key and body is its first try, and it that of a single push', async () => {
    const body = JSON.stringify(notice('K-3'));
    await service.push('upsert', body, { idempotencyKey: 'k3' });
    const line = `{"op":"upsert","key":"k3","body": ${body} }`;
    const answer = await send([line, upsert('K-4', {}, 'k4')]);
    expect(answer.data?.results[0]).toMatchObject({ outcome: 'CREATED', replayed: true });
    const single = await service.push('upsert', notice('K-4'), { idempotencyKey: 'k4' });
    expect(single.headers['idempotency-replayed']).toBe('true');
    expect(await storedMatter(service.db, 'K-3')).toMatchObject({ revision: 1 });
  });

  test('a later state of its matter: STALE_IGNORED', async () => {
    const at = (hour: number) => ({ sourceUpdatedAt: `2024-06-01T0${hour}:00:00Z` });
    const answer = await send([
      upsert('O-1', at(2)),
      upsert('O-1', { ...at(1), title: 'stale' }),
      upsert('O-1', { ...at(3), title: 'last' }),
    ]);
    expect(shortly(answer)).toEqual(['1 CREATED', '2 STALE_IGNORED', '3 UPDATED']);
    expect(await storedMatter(service.db, 'O-1')).toMatchObject({ title: 'last' });
  });

  test('a line that fails by its own fault takes nothing from those behind it', async () => {
    const reopen = pushLine('reopen', { externalId: 'O-2' });
    const answer = await send([reopen, upsert('O-2', { title: '' }), upsert('O-2')]);
    expect(answer.headers['retry-after']).toBeUndefined();
    expect(shortly(answer)).toEqual(['1 MATTER_NOT_FOUND', '2 VALIDATION_FAILED', '3 CREATED']);
  });

  test('a batch of which no line can be read is answered line by line', async () => {
    const answer = await send(['{', '[]']);
    expect(answer).toMatchObject({ status: 207, data: { total: 2, succeeded: 0, failed: 2 } });
    expect(shortly(answer)).toEqual(['1 INVALID_JSON', '2 INVALID_JSON']);
  });
});

describe('of a batch as a whole', () => {
  test('a wrong signature counts as a rejected push', async () => {
    const answer = await send([upsert('W-4')], { secret: 'wrong' });
    await expectNothing(answer, { code: 401, reason: 'SIGNATURE_MISMATCH' }, /^W-4/);
    await untilCounted('SIGNATURE_MISMATCH', 1);
  });

  const expectNothing = async (answer: BatchAnswer, expected: object, about: RegExp) => {
    expect(answer).toMatchObject({ ...expected, data: null });
    expect(await matterModel(service.db).countDocuments({ externalId: about })).toBe(0);
  };

  test('a paused client; its entry names no line', async () => {
    await admin().pause(service.clientId, 'maintenance');
    const probe = async () => (await send([upsert('W-1')])).reason === 'CLIENT_PAUSED';
    await until('the pause to be known', probe);
    const answer = await send([upsert('W-1'), upsert('W-2')]);
    await admin().resume(service.clientId);
    await until('its end', async () => (await send([upsert('U-1')])).code === 0);
    await matterModel(service.db).deleteMany({ externalId: 'W-1' });
    await expectNothing(answer, { code: 503, reason: 'CLIENT_PAUSED', retryable: true }, /^W-/);
    const find = () => entryModel(service.db).findById(answer.requestId).lean();
    const entry = await until('its entry', async () => (await find()) ?? undefined);
    expect(entry).toMatchObject({ operation: BATCH, state: 'REFUSED', result: 'CLIENT_PAUSED' });
    expect(entry.externalId).toBeUndefined();
  });

  test('the rate of the client: a batch costs as much as it has lines', async () => {
    const created = await admin().create({ clientId: 'slow', systemCode: 'SLOW' });
    // So slow that what a batch took is not given back while a test runs.
    await admin().setLimit('slow', { rate: 1, burst: 100 });
    const slow = { clientId: 'slow', secret: created.secret ?? '' };
    const lines = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => upsert(`R-${from + n}`));
    await until('the client and its rate to be known', async () => {
      const { headers } = await service.push('', {}, { ...slow, path: '/api/open/clients/me' });
      return headers['ratelimit-policy'] === '"client";q=100;w=100';
    });
    const first = await send(lines(0, 70), slow);
    expect(first).toMatchObject({ code: 0 });
    const over = await send(lines(100, 90), slow);
    await expectNothing(over, { code: 429, reason: 'RATE_LIMITED', retryable: true }, /^R-1\d\d$/);
    expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('a key in its headers that leaves no room for the number of a line', async () => {
    const answer = await send([upsert('W-3')], { idempotencyKey: 'k'.repeat(250) });
    await expectNothing(answer, { code: 400, reason: 'VALIDATION_FAILED' }, /^W-3/);
  });

  test('a connection that is cut in the middle of the batch', async () => {
    const body = `${upsert('C-1')}\n${upsert('C-2')}\n`;
    const { clientId, secret } = service;
    const target = '/api/open/matters/batch';
    const caller = await connectRaw(service.urlOf());
    caller.send(rawPush({ clientId, secret, target, body, sent: body.slice(0, -20) }));
    await send([upsert('C-3')]);
    caller.socket.destroy();
    await send([upsert('C-4')]);
    expect(await entriesOf(/^C-[12]$/)).toEqual([]);
  });
});

test('always-200: the code is in the envelope alone', async () => {
  const web = await service.startWeb({ HTTP_STATUS_MODE: 'always-200' });
  const answer = await send([upsert('A-1'), '{'], { url: String(web.url) });
  expect(answer).toMatchObject({ status: 200, code: 207, reason: 'PARTIAL_FAILURE' });
  const whole = await send([''], { url: String(web.url) });
  expect(whole).toMatchObject({ status: 200, code: 400, reason: 'EMPTY_BATCH' });
});

test('a connection cut before the answer: the same batch with its key takes no second effect', async () => {
  const lines = [upsert('T-1', { title: 'a' }), upsert('T-1', { title: 'b' }), upsert('T-2')];
  const body = `${lines.join('\n')}\n`;
  const { clientId, secret } = service;
  const about = { clientId, secret, body, target: '/api/open/matters/batch' };
  const caller = await connectRaw(service.urlOf());
  caller.send(rawPush({ ...about, headers: ['X-Idempotency-Key: cut'] }));
  await until('its lines to be recorded', async () => (await entriesOf(/^T-/)).length === 3);
  caller.socket.destroy();
  await untilSettled();
  const again = await send(lines, { idempotencyKey: 'cut' });
  expect(shortly(again)).toEqual(['1 CREATED', '2 UPDATED', '3 CREATED']);
  expect(again.data?.results.every(({ replayed }) => replayed)).toBe(true);
  expect(await storedMatter(service.db, 'T-1')).toMatchObject({ title: 'b', revision: 2 });
});

describe('while no worker goes on', () => {
  const stopWorkers = () => {
    for (const worker of service.workers) worker.kill('SIGSTOP');
  };
  afterEach(async () => {
    for (const worker of service.workers) worker.kill('SIGCONT');
    await until('pushes to go on', async () => (await send([upsert('U-2')])).code === 0);
    await untilSettled();
  });

  test('a full partition, the lines behind it, and the deadline: each says what it met', async () => {
    stopWorkers();
    const same = Array.from({ length: ROOM + 2 }, (_, n) => upsert('P-1', { title: `${n}` }));
    const answer = await send([...same, upsert('P-2'), '{'], hasty);
    // As of the push alone whose partition is full.
    const headers = { 'retry-after': '1' };
    expect(answer).toMatchObject({ status: 207, retryable: true, headers });
    expect(answer.data?.results.map(({ code, reason }) => `${code} ${reason}`)).toEqual([
      ...Array(ROOM).fill('504 CONFIRMATION_TIMEOUT'),
      '503 PARTITION_FULL',
      '503 SKIPPED_AFTER_FAILURE',
      '504 CONFIRMATION_TIMEOUT',
      '400 INVALID_JSON',
    ]);
    for (const worker of service.workers) worker.kill('SIGCONT');
    await untilSettled();
    expect(await matterModel(service.db).countDocuments({ externalId: /^P-/ })).toBe(0);
    const states = (await entriesOf(/^P-/)).map(({ state }) => state);
    expect(states).toEqual([...Array(ROOM).fill('EXPIRED'), 'REFUSED', 'REFUSED', 'EXPIRED']);
  });

  test('too many pushes wait already: BACKLOG_FULL for the batch, before any work', async () => {
    const web = await service.startWeb({ BATCH_TIMEOUT: '30s', PUSH_TIMEOUT: '30s' });
    const url = String(web.url);
    stopWorkers();
    const waiting = service.push('upsert', notice('B-0'), { url });
    await until('it to be recorded', async () => (await entriesOf(/^B-0$/)).length === 1);
    // A tenth of the deadline: until then a wait is nothing unusual.
    await sleep(3_500);
    const lines = Array.from({ length: 300 }, (_, n) => upsert(`B-${n + 1}`));
    const answer = await send(lines, { url });
    expect(answer).toMatchObject({
      code: 503,
      reason: 'BACKLOG_FULL',
      retryable: true,
      data: null,
    });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(await entriesOf(/^B-[1-9]/)).toEqual([]);
    for (const worker of service.workers) worker.kill('SIGCONT');
    await waiting;
    await untilCounted('BACKLOG_FULL', 300);
  });

  test('a worker that is killed in the middle: the lines take effect in their order, once', async () => {
    const before = await service.push('upsert', {
      matterType: 'NOTICE',
      externalId: 'X-1',
      title: 'before',
    });
    expect(before.code).toBe(0);
    const [worker] = service.workers;
    const lines = Array.from({ length: 4 }, (_, n) => upsert('X-1', { title: `line ${n}` }));
    const others = Array.from({ length: 150 }, (_, n) => upsert(`XO-${n}`));
    const batch = send([...lines, ...others], { idempotencyKey: 'killed' });
    await until('lines to be recorded', async () => (await entriesOf(/^XO-/)).length > 0);
    worker?.kill('SIGKILL');
    await worker?.exited;
    service.workers.shift();
    await service.startWorker();
    await batch;
    await untilSettled();
    // What was not confirmed is sent again, as its sender does.
    const again = await until('all of it', async () => {
      const answer = await send([...lines, ...others], { idempotencyKey: 'killed' });
      return answer.code === 0 && answer;
    });
    expect(again.data?.succeeded).toBe(154);
    const matter = await storedMatter(service.db, 'X-1');
    expect(matter).toMatchObject({ title: 'line 3', revision: 5 });
    const after = await service.push('status', { externalId: 'X-1', bizStatus: 'DONE' });
    expect(after.data.outcome).toBe('UPDATED');
  });
});

describe('while a server is away', () => {
  const batch = (name: string) =>
    send([upsert(`${name}-1`), upsert(`${name}-1`), upsert(`${name}-2`)], hasty);

  test('the queue: nothing is applied, and the next batch is', async () => {
    redis.kill('SIGKILL');
    await redis.exited;
    const answer = await until('the web process to notice', async () => {
      const found = await batch('Q');
      return found.reason === 'QUEUE_UNAVAILABLE' && found;
    });
    expect(answer).toMatchObject({ code: 503, retryable: true, data: null });
    expect(await matterModel(service.db).countDocuments({ externalId: /^Q-/ })).toBe(0);
    redis = await startRedis({ dir: path.join(dir, 'redis'), port: redis.port });
    await until('a batch to be taken', async () => (await batch('QA')).code === 0);
    await untilSettled();
  });

  test('the database: the same', async () => {
    mongo.kill('SIGKILL');
    await mongo.exited;
    const answer = await until('the web process to notice', async () => {
      const found = await batch('D');
      const [first] = found.data?.results ?? [];
      return (first ?? found).reason === 'DATABASE_UNAVAILABLE' && found;
    });
    expect(answer).toMatchObject({ retryable: true });
    mongo = await startMongo({ dir: path.join(dir, 'mongo'), port: mongo.port });
    await until('a batch to be taken', async () => (await batch('DA')).code === 0);
    await untilSettled();
    expect(await matterModel(service.db).countDocuments({ externalId: /^D-/ })).toBe(0);
  });
});
