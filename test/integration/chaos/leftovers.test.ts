/** What an idle service keeps in Redis is not reported, and whatever waits there is. */
import { randomBytes } from 'node:crypto';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { createPartitionJobs, type PartitionJobs } from '../../../src/queue/jobs';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { findLeftovers } from '../../../tools/chaos/leftovers';
import { todo } from '../../support/push-bodies';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

let lookup: Redis;
beforeAll(() => {
  lookup = new Redis(testServers().redisUrl, { maxRetriesPerRequest: null });
});
afterAll(() => lookup.disconnect());

describe('after pushes to a service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env: { RATE_LIMIT: '100' } });
  });
  afterAll(() => service.stop());

  test('nothing is left', async () => {
    const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
    const pushes = Array.from({ length: 50 }, (_, n) => service.push('upsert', todo(`K-${n % 5}`)));
    expect((await Promise.all(pushes)).map(({ code }) => code)).toEqual(Array(50).fill(0));
    await until('nothing', async () => (await findLeftovers({ lookup, keys })).length === 0);
    expect((await lookup.keys(`${keys.bullPrefix(0)}:*`)).length).toBeGreaterThan(3);
  });
});

describe('what waits', () => {
  const keys = createRedisKeys(`left-${randomBytes(5).toString('hex')}`);
  const left = async () =>
    (await findLeftovers({ lookup, keys })).map((name) =>
      name.slice(keys.bullPrefix(0).length + 1),
    );
  const ofJobs = (...names: string[]) => names.map((name) => `${PARTITION_JOB_QUEUE}:${name}`);
  let jobs: PartitionJobs;
  beforeAll(() => {
    jobs = createPartitionJobs(lookup, keys);
  });
  afterEach(async () => void (await lookup.del(await lookup.keys(`${keys.bullPrefix(0)}:*`))));
  afterAll(() => jobs.close());

  test('pushes in a partition, and their owner', async () => {
    await lookup.rpush(keys.partition(3), 'a push');
    await lookup.hset(keys.owners(0), '3', 'somebody');
    expect(await left()).toEqual(['owners:6', 'partition:6:3']);
  });

  test('a partition job that waits, with what keeps it from being doubled', async () => {
    await jobs.schedule([3]);
    expect(await left()).toEqual(ofJobs('1', 'de:partition-3', 'wait'));
  });

  test('a partition job that nobody finishes, with its lock', async () => {
    await jobs.schedule([3]);
    const worker = new Worker(PARTITION_JOB_QUEUE, undefined, {
      ...{ connection: lookup, prefix: keys.bullPrefix(0), autorun: false },
    });
    await worker.getNextJob('token', { block: false });
    expect(await left()).toEqual(ofJobs('1', '1:lock', 'active', 'de:partition-3'));
    await worker.close(true);
  });
});
