/** Pausing a client: its pushes are rejected with a reason of their own, and nothing else is. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { clientModel } from '../../../src/storage/directory/client-model';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { entryModel } from '../../../src/storage/push-log/entry';
import { matterctl } from '../../support/cli-tool';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const WHY = '月末结账';
let service: Service;
let neighbour: { clientId: string; secret: string };
beforeAll(async () => {
  service = await startService({ processes: 'workers', webs: 2 });
  const ring = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, ring, Date.now);
  const { secret } = await admin.create({ clientId: 'neighbour', systemCode: 'TEST' });
  neighbour = { clientId: 'neighbour', secret: String(secret) };
});
afterAll(() => service.stop());

const run = (...args: string[]) => matterctl(args, { env: service.env });
const queue = (...args: string[]) => run('queue', ...args);
const send = (web: number, externalId = 'PAUSE'): Promise<Answer> =>
  service.push(
    'upsert',
    { matterType: 'NOTICE', externalId, title: 'x' },
    { url: service.urlOf(web) },
  );
const isPaused = ({ reason }: Answer) => reason === 'CLIENT_PAUSED';
/** Every web process has noticed. */
const everywhere = async (paused: boolean) => {
  for (const web of [0, 1]) {
    await until(`web ${web} to notice`, async () => isPaused(await send(web)) === paused);
  }
};
const pause = async () => {
  expect(await queue('pause', 'tester', '--reason', WHY)).toMatchObject({ exitCode: 0 });
  await everywhere(true);
};
const resume = async () => {
  expect((await queue('resume', 'tester')).stdout).toBe('client tester may push\n');
  await everywhere(false);
};
afterEach(resume);

test('its pushes are answered 503 with the reason by every web process, and taken again after', async () => {
  expect(await send(0)).toMatchObject({ code: 0 });
  await pause();
  for (const web of [0, 1]) {
    const answer = await send(web);
    expect(answer).toMatchObject({
      status: 503,
      code: 503,
      reason: 'CLIENT_PAUSED',
      message: `Client 已暂停推送，请稍后重试: ${WHY}`,
      retryable: true,
      data: null,
    });
    expect(answer.headers['retry-after']).toBe('30');
  }
  await resume();
  expect(await send(1)).toMatchObject({ code: 0 });
});

test('another client of the same system, and queries of its own, are not rejected', async () => {
  await pause();
  const body = { matterType: 'NOTICE', externalId: 'PAUSE', title: 'y' };
  expect(await service.push('upsert', body, neighbour)).toMatchObject({ code: 0 });
  const ask = (path: string, asked: object) =>
    service.push('', asked, { path: `/api/open/${path}` });
  expect(await ask('matters/get', { externalIds: ['PAUSE'] })).toMatchObject({
    code: 0,
    data: { matters: [{ externalId: 'PAUSE', title: 'y' }] },
  });
  expect(await ask('push-logs/query', { externalId: 'PAUSE' })).toMatchObject({ code: 0 });
});

test('a web process logs 100 of its rejections at once, and one more each minute', async () => {
  await pause();
  const rejections = { externalId: 'CROWD', state: 'REFUSED' as const, result: 'CLIENT_PAUSED' };
  const recorded = () => entryModel(service.db).countDocuments(rejections);
  const began = Date.now();
  let sent = 0;
  await until('some of them in the log', async () => {
    const crowd = Array.from({ length: 500 }, () => send(0, 'CROWD'));
    sent += (await Promise.all(crowd)).filter(isPaused).length;
    return (await recorded()) > 0;
  });
  // All that will be is there within a second of its answer.
  await sleep(1_100);
  const most = 100 + Math.ceil((Date.now() - began) / 60_000);
  expect(sent).toBeGreaterThan(most);
  expect(await recorded()).toBeLessThanOrEqual(most);
  const entry = await entryModel(service.db).findOne({ externalId: 'CROWD' }).lean();
  expect(entry).toMatchObject({ clientId: 'tester', systemCode: 'TEST', operation: 'upsert' });
});

test('what it has queued is applied all the same', async () => {
  const [worker] = service.workers;
  worker?.kill('SIGSTOP');
  const queued = send(0, 'QUEUED');
  await until('the push to be queued', () =>
    entryModel(service.db).findOne({ externalId: 'QUEUED', state: 'QUEUED' }).lean(),
  );
  await queue('pause', 'tester');
  // Those that are sent before the web process knows of the pause wait for the worker.
  const sent: Promise<Answer>[] = [];
  await until('the web process to notice', async () => {
    const answer = send(0);
    sent.push(answer);
    return (await Promise.race([answer, sleep(200)]))?.reason === 'CLIENT_PAUSED';
  });
  worker?.kill('SIGCONT');
  await Promise.all(sent);
  expect(await queued).toMatchObject({ code: 0, data: { outcome: 'CREATED' } });
});

test('it stands in the list of clients, and outlives all of Redis', async () => {
  await pause();
  const { stdout } = await run('client', 'list');
  expect(stdout).toMatch(/\ntester +TEST +CONFIDENTIAL +paused +/);
  expect(stdout).toMatch(/\ntester is paused since 2\S+ \d\d:\d\d: 月末结账\n/);
  expect(stdout).toMatch(/\nneighbour +TEST +CONFIDENTIAL +enabled +/);
  const redis = new Redis(String(service.env.REDIS_URL));
  const names = await redis.keys(`{${service.env.REDIS_NAMESPACE}}*`);
  expect(await redis.del(names)).toBeGreaterThan(0);
  redis.disconnect();
  expect(await send(0)).toMatchObject({ reason: 'CLIENT_PAUSED' });
  expect(await clientModel(service.db).findById('tester').lean()).toMatchObject({
    paused: { since: expect.any(Date), reason: WHY },
  });
});

test('without a reason of the operator the message is the usual one', async () => {
  const { stdout } = await queue('pause', 'tester', '--json');
  expect(JSON.parse(stdout)).toEqual({ clientId: 'tester', paused: true });
  await everywhere(true);
  expect(await send(0)).toMatchObject({ message: 'Client 已暂停推送，请稍后重试' });
  expect((await run('client', 'list')).stdout).toMatch(/paused since 2\S+ \d\d:\d\d\n/);
});

test.each([
  [['pause', 'nobody'], 1, 'there is no client nobody'],
  [['resume', 'nobody'], 1, 'there is no client nobody'],
  [['pause', 'tester', '--reason', 'x'.repeat(201)], 1, 'one line of 1 to 200 characters'],
  [['pause', 'tester', '--reason', 'a\u001b[2J'], 1, 'one line of 1 to 200 characters'],
  [['pause'], 2, "missing required argument 'clientId'"],
])('queue %j fails in one line', async (args, exitCode, message) => {
  const failed = await queue(...args);
  expect(failed).toMatchObject({ exitCode, stdout: '' });
  expect(failed.stderr).toContain(message);
});
