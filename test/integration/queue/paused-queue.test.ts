/** A queue that somebody paused with BullMQ itself: every part names the cause, and one command ends it. */
import { readFileSync } from 'node:fs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { matterctl } from '../../support/cli-tool';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
let queue: Queue;
let redis: Redis;
beforeAll(async () => {
  service = await startService();
  redis = new Redis(String(service.env.REDIS_URL), { maxRetriesPerRequest: null });
  const prefix = createRedisKeys(String(service.env.REDIS_NAMESPACE)).bullPrefix(0);
  queue = new Queue(PARTITION_JOB_QUEUE, { connection: redis, prefix });
}, 60_000);
afterAll(async () => {
  await queue.close();
  redis.disconnect();
  await service.stop();
});

const ask = (name: string, body: object) => service.push('', body, { path: `/api/open/${name}` });
const run = (...args: string[]) => matterctl(args, { env: service.env });
const send = (externalId: string) =>
  service.push('upsert', { matterType: 'TODO', externalId, title: 'x' });
const readyStatus = async () => (await fetch(`${service.urlOf()}/readyz`)).status;

test('a pause is answered at once and named, and a command ends it', async () => {
  expect(await send('BEFORE')).toMatchObject({ code: 0 });
  await queue.pause();
  await until('the web to notice', async () => (await readyStatus()) === 503);
  const rejected = await send('PAUSED');
  expect(rejected).toMatchObject({ code: 503, reason: 'QUEUE_UNAVAILABLE', retryable: true });
  expect(await ask('matters/get', { externalIds: ['BEFORE'] })).toMatchObject({ code: 0 });
  await until('the push log to have it', async () => {
    const { data } = await ask('push-logs/query', { externalId: 'PAUSED' });
    return (data as unknown as { entries: unknown[] }).entries.length === 1;
  });
  await until('its count', async () => {
    const { data } = await ask('push-logs/stats', { reason: 'QUEUE_UNAVAILABLE' });
    return (data as unknown as { total: { pushes: number } }).total.pushes === 1;
  });
  const screen = (await run('status')).stdout;
  expect(screen).toMatch(/\nredis: the queue is paused with BullMQ, run matterctl queue unpause/);
  expect(screen).toMatch(/\ntester +blocked /);
  for (const { logFile } of [...service.webs, ...service.workers]) {
    await until('its log to name the pause', async () =>
      /paused with BullMQ/.test(readFileSync(logFile, 'utf8')),
    );
  }
  const done = await run('queue', 'unpause', '--json');
  expect(JSON.parse(done.stdout)).toEqual({ wasPaused: true });
  expect(await queue.isPaused()).toBe(false);
  await until('pushes to be accepted', async () => (await send('AFTER')).code === 0);
  await until('the web to be ready', async () => (await readyStatus()) === 200);
  const again = await run('queue', 'unpause');
  expect(again.stdout).toBe('the queue was not paused\n');
}, 120_000);
