/** Two clients whose matters share one partition: the client that floods it is rejected, the other one is not (contract 6.7). */
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../../src/queue/keys';
import { entryModel } from '../../../src/storage/push-log/entry';
import { todo } from '../../support/push-bodies';
import { introduce, type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

const LIMIT = 6;
const OTHER = 'quiet';

let service: Service;
let redis: Redis;
let quiet: { clientId: string; secret: string };
beforeAll(async () => {
  redis = new Redis(testServers().redisUrl);
  service = await startService({
    workers: 0,
    env: { REDIS_PARTITIONS: '1', PARTITION_LIMIT: String(LIMIT) },
  });
  quiet = { clientId: OTHER, ...(await introduce(service.db, OTHER)) };
});
afterAll(async () => {
  await service.stop();
  redis.disconnect();
});

const keys = () => createRedisKeys(String(service.env.REDIS_NAMESPACE), 1, 1);
const waiting = () => redis.llen(keys().partition(0));

test('a flooding client gets 503 with Retry-After, and every push of the other client is written', async () => {
  const flood = Array.from({ length: LIMIT }, (_, n) => service.push('upsert', todo(`FLOOD-${n}`)));
  await until('the partition to be full', async () => (await waiting()) === LIMIT);
  const rejected = await service.push('upsert', todo('FLOOD-MORE'));
  expect(rejected).toMatchObject({ status: 503, reason: 'PARTITION_FULL', retryable: true });
  expect(rejected.headers['retry-after']).toBe('1');
  // Where the database is slow, the answer does not wait for the entry.
  const entry = await until('its entry to be settled', () =>
    entryModel(service.db)
      .findOne({ _id: rejected.requestId, state: { $ne: 'QUEUED' } })
      .lean(),
  );
  expect(entry).toMatchObject({ state: 'REFUSED', result: 'PARTITION_FULL' });

  const others = Array.from({ length: LIMIT / 2 }, (_, n) =>
    service.push('upsert', todo(`QUIET-${n}`), quiet),
  );
  await until('its pushes to wait', async () => (await waiting()) === LIMIT + LIMIT / 2);
  expect(await service.push('upsert', todo('FLOOD-AGAIN'))).toMatchObject({
    reason: 'PARTITION_FULL',
  });

  await service.startWorker();
  for (const { code } of await Promise.all([...flood, ...others])) expect(code).toBe(0);
  expect((await service.push('upsert', todo('FLOOD-MORE'))).code).toBe(0);
  await until('the queue to be empty', async () => (await waiting()) === 0);
  expect(await redis.exists(keys().partitionClients(0))).toBe(0);
});
