/** Promise 4: every caller gets an answer by its deadline. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../../src/queue/keys';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { type RunningServer, startRedis } from '../../../tools/local/servers';
import { openPartitions, partitionOfKey, take } from '../../support/partitions';
import { todo } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

describe('with no worker running', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({
      workers: 0,
      env: { PUSH_TIMEOUT: '4s', PARTITION_LIMIT: '3' },
    });
  });
  afterAll(() => service.stop());
  /** A slow database may have the end of a push a moment after its caller. */
  const finalEntry = (answer?: Answer) =>
    until('the entry to be final', async () => {
      const entry = await entryModel(service.db).findById(answer?.requestId).lean();
      return entry !== null && entry.state !== 'QUEUED' && entry;
    });

  test('a push is answered 504, retryable, and is not applied afterwards either', async () => {
    // A process that stands still for so long may tell of a server instead.
    const answer = await until('a push that waits until its deadline', async () => {
      const told = await service.push('upsert', todo('ALONE'));
      return told.code !== 503 && told;
    });
    expect(answer).toMatchObject({ code: 504, reason: 'CONFIRMATION_TIMEOUT', retryable: true });
    expect(await finalEntry(answer)).toMatchObject({ state: 'EXPIRED' });
    const worker = await service.startWorker();
    let tries = 0;
    const next = await until('a push that is applied', async () => {
      tries += 1;
      const sent = await service.push('upsert', todo(`ALONE-${tries}`));
      return sent.code === 0 && sent;
    });
    expect(next.data.outcome).toBe('CREATED');
    expect(await matterModel(service.db).countDocuments({ externalId: 'ALONE' })).toBe(0);
    await worker.stop();
  });

  test('a full partition rejects at once with 503 and Retry-After', async () => {
    // Long enough for all to come while the first ones wait.
    const web = await service.startWeb({ PUSH_TIMEOUT: '6s' });
    const url = service.urlOf(service.webs.indexOf(web));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        service.push('upsert', { ...todo('FULL'), title: `${n}` }, { url }),
      ),
    );
    const rejected = answers.filter(({ reason }) => reason === 'PARTITION_FULL');
    expect(rejected).toHaveLength(3);
    expect(rejected[0]).toMatchObject({ code: 503, retryable: true });
    expect(rejected[0]?.headers['retry-after']).toBe('1');
    const entry = await finalEntry(rejected[0]);
    expect(entry).toMatchObject({ state: 'REFUSED', result: 'PARTITION_FULL' });
  });

  test('so does one that is full in bytes, and says which it was', async () => {
    const large = { ...todo('LARGE'), content: '大'.repeat(60_000) };
    const env = { PARTITION_LIMIT: '1000', PARTITION_BYTES: String(2 ** 20), PUSH_TIMEOUT: '8s' };
    const web = await service.startWeb(env);
    const url = service.urlOf(service.webs.indexOf(web));
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => service.push('upsert', large, { url })),
    );
    const rejected = answers.filter(({ reason }) => reason === 'PARTITION_BYTES_FULL');
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected[0]).toMatchObject({ code: 503, retryable: true });
    expect(answers.filter(({ code }) => code === 504).length).toBeGreaterThan(2);
  });
});

describe('with a worker that does not move', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ processes: true, env: { PUSH_TIMEOUT: '30s' } });
  });
  afterAll(() => service.stop());

  test('who would wait behind a crowd too long is rejected at once, and again taken when it moves', async () => {
    for (const worker of service.workers) worker.kill('SIGSTOP');
    const crowd = Array.from({ length: 300 }, (_, n) => service.push('upsert', todo(`CROWD-${n}`)));
    const queued = () => entryModel(service.db).countDocuments({ state: 'QUEUED' });
    // A slow machine takes so long for all that it rejects the last of them.
    await until('the crowd to wait', async () => (await queued()) >= 150);
    // A tenth of the deadline: until then a wait is nothing unusual.
    await sleep(3_100);
    const rejected = await service.push('upsert', todo('BEHIND'));
    expect(rejected).toMatchObject({ status: 503, reason: 'BACKLOG_FULL', retryable: true });
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    for (const worker of service.workers) worker.kill('SIGCONT');
    // On a slow machine two workers that go on at once may hold each other up for a second with a push.
    const retryable = ['BACKLOG_FULL', 'DATABASE_UNAVAILABLE'];
    for (const { code, reason } of await Promise.all(crowd)) {
      expect([0, 504, ...(retryable.includes(String(reason)) ? [503] : [])]).toContain(code);
    }
    await until('a push to be accepted', async () => {
      return (await service.push('upsert', todo('AFTER'))).code === 0;
    });
  });

  test('a rejection for a reason that only a newer worker knows is told as it is, and had no effect', async () => {
    const redis = new Redis(testServers().redisUrl);
    const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
    const partitions = openPartitions(redis, keys, { pushes: 100, bytes: 2 ** 20 });
    for (const worker of service.workers) worker.kill('SIGSTOP');
    const answer = service.push('upsert', todo('TOMORROW'));
    const partition = partitionOfKey('TEST', 'TOMORROW');
    await until('it to wait', async () => {
      return (await partitions.findDue(0, 'newer')).includes(partition);
    });
    const batch = await take(partitions, [partition], 'newer');
    const settlement = { state: 'REFUSED', reason: 'RULE_OF_TOMORROW' };
    const pushes = batch.records.flatMap(({ pushes }) => pushes);
    const replies = pushes.map(({ id, replyTo }) => ({ id, replyTo, settlement }));
    await partitions.replyAndRemove(batch, replies, batch.now);
    expect(await answer).toMatchObject({ code: 500, reason: 'RULE_OF_TOMORROW', retryable: true });
    expect((await answer).message).toBe('推送被拒绝，未生效');
    for (const worker of service.workers) worker.kill('SIGCONT');
    redis.disconnect();
  });
});

describe('with a worker', () => {
  let service: Service;
  // A Redis of its own: a test cuts all subscribers of it, and those of other files are not to be cut.
  let dir: string;
  let server: RunningServer;
  let redis: Redis;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'matter-push-answer-'));
    server = await startRedis({ dir });
    redis = new Redis(server.url);
    // Longer than the test may take: only the log can answer where a reply is lost.
    service = await startService({
      processes: 'workers',
      redisUrl: server.url,
      env: { PUSH_TIMEOUT: '120s' },
    });
  });
  afterAll(async () => {
    redis.disconnect();
    await service.stop();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test('a lost reply is found in the log: the caller gets the outcome, not a timeout', async () => {
    const pattern = `*${service.env.REDIS_NAMESPACE}*replies*`;
    const [channel] = (await redis.pubsub('CHANNELS', pattern)) as string[];
    expect(channel).toBeDefined();
    const worker = service.workers[0];
    worker?.kill('SIGSTOP');
    const answer = service.push('upsert', todo('LOST-REPLY'));
    await until('the push to be recorded', () => {
      return entryModel(service.db).findOne({ externalId: 'LOST-REPLY', state: 'QUEUED' }).lean();
    });
    // Cut the web process's subscription again and again while the worker replies.
    worker?.kill('SIGCONT');
    const settled = () =>
      entryModel(service.db).findOne({ externalId: 'LOST-REPLY', state: 'PERSISTED' }).lean();
    while (!(await settled())) await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    expect(await answer).toMatchObject({ code: 0, data: { outcome: 'CREATED' } });
  });

  test('a stopping web process answers what it accepted', async () => {
    const web = await service.startWeb();
    const url = service.urlOf(1);
    const answers = Array.from({ length: 30 }, (_, n) =>
      service.push('upsert', todo(`DRAIN-${n}`), { url }),
    );
    await until('pushes to be under way', () => {
      return entryModel(service.db)
        .findOne({ externalId: /^DRAIN/ })
        .lean();
    });
    const stopped = web.stop();
    const settled = await Promise.allSettled(answers);
    const lost = settled.filter(
      (end) => end.status === 'fulfilled' && ![0, 503].includes(end.value.code),
    );
    expect(lost).toEqual([]);
    expect(settled.some((end) => end.status === 'fulfilled' && end.value.code === 0)).toBe(true);
    await stopped;
    expect(await web.exited).toBe('exit code 0');
  });
});
