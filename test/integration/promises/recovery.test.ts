/** Promise 5: whatever dies, the keys move on, and nothing needs a hand. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { matterModel } from '../../../src/storage/ledger/matters';
import { createPushLog } from '../../../src/storage/push-log';
import { entryModel } from '../../../src/storage/push-log/entry';
import { type RunningServer, startRedis } from '../../../tools/local/servers';
import { aPush } from '../../support/builders';
import { aLogEntry } from '../../support/log-entries';
import { openPartitions, partitionOfKey } from '../../support/partitions';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-recovery-'));
let redisServer: RunningServer;
let redis: Redis;
let service: Service;
beforeAll(async () => {
  redisServer = await startRedis({ dir });
  redis = new Redis(redisServer.url);
  redis.on('error', () => undefined);
  service = await startService({ processes: 'workers', redisUrl: redisServer.url, workers: 2 });
});
afterAll(async () => {
  await service.stop();
  redis.disconnect();
  await redisServer.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('after a SIGKILL of all workers in the middle of their jobs, every push is answered with 0', async () => {
  let sent = 0;
  let stop = false;
  const answers = new Map<string, number>();
  const caller = async () => {
    while (!stop) {
      const answer = await service.push('upsert', todo(`K-${sent++ % 40}`));
      // A server that answers late, as on a busy machine, is a rejection: nothing of it is under way.
      if (answer.code === 503) continue;
      const outcome = answer.code === 0 ? 'applied' : JSON.stringify(answer);
      answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
    }
  };
  const callers = Array.from({ length: 16 }, caller);
  const owners = createRedisKeys(String(service.env.REDIS_NAMESPACE)).owners(0);
  for (let kill = 0; kill < 3; kill += 1) {
    const before = sent;
    await until('pushes under way', async () => sent > before + 100);
    const victims = service.workers.splice(0);
    await until('a partition job to be under way', async () => {
      if ((await redis.hlen(owners)) === 0) return false;
      for (const victim of victims) victim.kill('SIGKILL');
      return true;
    });
    await Promise.all(victims.map((victim) => victim.exited));
    await Promise.all([service.startWorker(), service.startWorker()]);
  }
  const before = sent;
  await until('pushes after the last kill', async () => sent > before + 200);
  stop = true;
  await Promise.all(callers);
  expect([...answers.keys()]).toEqual(['applied']);
});

test('a push that a web process appended before it died, without scheduling its partition job, is applied', async () => {
  const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
  const deadlineAt = new Date(Date.now() + 30_000);
  const entry = aLogEntry({ externalId: 'ORPHAN', deadlineAt });
  await createPushLog(service.db).append(entry);
  const replyTo = randomBytes(6).toString('hex');
  const push = aPush({ id: String(entry._id), systemCode: 'TEST', externalId: 'ORPHAN', replyTo });
  const partitions = openPartitions(redis, keys, { pushes: 100, bytes: 2 ** 20 });
  await partitions.append(0, [{ push, timeout: 30_000 }]);
  await until('the orphan', () => matterModel(service.db).findOne({ externalId: 'ORPHAN' }).lean());
});

test('an emptied Redis loses no acknowledged push, and what it held is settled', async () => {
  const first = await service.push('upsert', todo('FLUSH'));
  expect(first.code).toBe(0);
  // What Redis lost is answered at its deadline: soon, for callers of this one.
  const { url = '' } = await service.startWeb({ PUSH_TIMEOUT: '10s' });
  for (const worker of service.workers) worker.kill('SIGSTOP');
  const waiting = Array.from({ length: 5 }, (_, n) =>
    service.push('upsert', todo(`LOST-${n}`), { url }),
  );
  const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
  await until('the pushes to wait in Redis', async () => {
    const lists = waiting.map((_, n) => keys.partition(partitionOfKey('TEST', `LOST-${n}`)));
    return (await Promise.all(lists.map((list) => redis.llen(list)))).every((length) => length > 0);
  });
  await redis.flushall();
  for (const worker of service.workers) worker.kill('SIGCONT');
  // Workers that go on at the same time may hold each other up with a push.
  await until('a push to be accepted', async () => {
    return (await service.push('upsert', todo('AFTER-FLUSH'))).code === 0;
  });
  const answers = await Promise.all(waiting);
  for (const { code } of answers) expect([0, 504]).toContain(code);
  await until(
    'every entry to be settled',
    async () => (await entryModel(service.db).countDocuments({ state: 'QUEUED' })) === 0,
  );
  for (const [n, { code }] of answers.entries()) {
    const stored = await matterModel(service.db).countDocuments({ externalId: `LOST-${n}` });
    expect(stored).toBe(code === 0 ? 1 : 0);
  }
});

test('Redis killed and back: pushes are rejected at once meanwhile, then accepted, by themselves', async () => {
  redisServer.kill('SIGKILL');
  await redisServer.exited;
  const rejected = await until('the web process to notice', async () => {
    const answer = await service.push('upsert', todo('DOWN'));
    return answer.reason === 'QUEUE_UNAVAILABLE' && answer;
  });
  expect(rejected).toMatchObject({ code: 503, retryable: true });
  expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0);
  redisServer = await startRedis({ dir, port: redisServer.port });
  await until('a push to be accepted again', async () => {
    return (await service.push('upsert', todo('UP'))).code === 0;
  });
});

test('after all of it no partition holds a push and no partition job is left behind', async () => {
  await until('the partitions to be empty', async () => {
    const left = await redis.keys('*');
    const held = new RegExp(`:partition:|:owners|:${PARTITION_JOB_QUEUE}:(\\d|wait|active|de:)`);
    return !left.some((key) => held.test(key));
  });
});
