/** Redis at its `maxmemory`: pushes are rejected for that reason, and workers make room without a hand. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../../src/queue/keys';
import { matterModel } from '../../../src/storage/ledger/matters';
import { type RunningServer, startRedis } from '../../../tools/local/servers';
import { aPush } from '../../support/builders';
import { openPartitions, ownerCalled, PARTITIONS, take } from '../../support/partitions';
import { todo } from '../../support/push-bodies';
import type { Answer } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const KIB = 1024;
const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-memory-'));
let server: RunningServer;
let redis: Redis;
let service: Service;
beforeAll(async () => {
  server = await startRedis({ dir });
  redis = new Redis(server.url);
  service = await startService({
    processes: 'workers',
    redisUrl: server.url,
  });
});
afterEach(() => redis.config('SET', 'maxmemory', '0'));
afterAll(async () => {
  await service.stop();
  redis.disconnect();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A quarter of what waits has to go before Redis takes anything again. */
async function fillUp(): Promise<void> {
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory', String(used - 1024 * KIB));
}

/** Pushes of 64 KiB that wait in the partitions, 4 MiB of them: no worker is there. */
async function letWait(prefix: string, url = service.urlOf()): Promise<Promise<Answer>[]> {
  const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
  const waiting = Array.from({ length: 64 }, (_, n) =>
    service.push('upsert', todo(`${prefix}-${n}`, { content: 'x'.repeat(60 * KIB) }), { url }),
  );
  await until('the pushes to wait', async () => (await lengths(keys)) >= 64);
  return waiting;
}

async function lengths(keys: ReturnType<typeof createRedisKeys>): Promise<number> {
  const all = await Promise.all(
    Array.from({ length: PARTITIONS }, (_, partition) => redis.llen(keys.partition(partition))),
  );
  return all.reduce((sum, length) => sum + length, 0);
}

test('pushes are rejected at once and by name, and what waits is applied by a worker that starts then', async () => {
  for (const worker of service.workers.splice(0)) {
    worker.kill('SIGKILL');
    await worker.exited;
  }
  const waiting = await letWait('FULL');
  await fillUp();
  const rejected = await service.push('upsert', todo('REFUSED'));
  expect(rejected).toMatchObject({ code: 503, reason: 'QUEUE_MEMORY_FULL', retryable: true });
  expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
  // Else proxies take every web out at once, and callers get no answer with the reason.
  expect((await fetch(`${service.urlOf()}/readyz`)).status).toBe(200);
  expect(await service.push('upsert', todo('REFUSED'))).toMatchObject({ code: 503 });

  await service.startWorker();
  for (const { code } of await Promise.all(waiting)) expect(code).toBe(0);
  await until('pushes to be accepted again', async () => {
    return (await service.push('upsert', todo('AGAIN'))).code === 0;
  });
  expect(await matterModel(service.db).countDocuments({ externalId: 'REFUSED' })).toBe(0);
});

test('a worker that is at work goes on, also with pushes that nobody waits for any more', async () => {
  const { url } = await service.startWeb({ PUSH_TIMEOUT: '12s' });
  for (const worker of service.workers) worker.kill('SIGSTOP');
  const waiting = await letWait('DEAD', url);
  const codes = (await Promise.all(waiting)).map(({ code }) => code);
  expect(new Set(codes)).toEqual(new Set([504]));
  // Something else fills it, and goes on doing so.
  await redis.config('SET', 'maxmemory', '1');
  for (const worker of service.workers) worker.kill('SIGCONT');
  const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
  await until('the partitions to be empty', async () => (await lengths(keys)) === 0);
  expect(await service.push('upsert', todo('STILL'))).toMatchObject({
    reason: 'QUEUE_MEMORY_FULL',
  });
  await redis.config('SET', 'maxmemory', '0');
  await until('pushes to be accepted again', async () => {
    return (await service.push('upsert', todo('AFTER'))).code === 0;
  });
});

test('partitions can be read and trimmed, and take nothing', async () => {
  const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
  const partitions = openPartitions(redis, keys, { pushes: 100, bytes: 64 * KIB * KIB });
  const push = aPush();
  const append = () => partitions.append(0, [{ push, timeout: 5_000 }]);
  const { toSchedule } = await append();
  await redis.config('SET', 'maxmemory', '1');
  await expect(append()).rejects.toThrow('OOM ');
  const first = await take(partitions, toSchedule, 'one');
  const again = await take(partitions, toSchedule, 'other');
  expect(again.fencedOwners).toEqual([ownerCalled('one')]);
  expect([...(await partitions.replyAndRemove(first, [], 0)).values()]).toEqual([0]);
  await partitions.release(toSchedule, 'other', 'ALL');
  expect(await partitions.findDue(0, 'other')).toEqual([]);
});

test('pushes of a partition that has a tally of its clients can be removed', async () => {
  const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
  const partitions = openPartitions(redis, keys, { pushes: 2, bytes: 64 * KIB });
  const pushes = ['a', 'b'].map((clientId) => ({ push: aPush({ clientId }), timeout: 5_000 }));
  const { toSchedule } = await partitions.append(0, pushes);
  const tally = async () => Object.values(await redis.hgetall(keys.partitionClients(0)));
  expect(await tally()).toEqual([expect.stringContaining('"a":[1,')]);
  await redis.config('SET', 'maxmemory', '1');
  const first = await take(partitions, toSchedule, 'one', 1);
  expect([...(await partitions.replyAndRemove(first, [], 0)).values()]).toEqual([1]);
  expect(await tally()).toEqual([expect.not.stringContaining('"a":')]);
  const last = await take(partitions, toSchedule, 'one', 1);
  expect([...(await partitions.replyAndRemove(last, [], 0)).values()]).toEqual([0]);
  expect(await tally()).toEqual([]);
});
