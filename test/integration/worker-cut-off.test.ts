/** A worker that alone cannot reach the database leaves the partitions to the others until it can again. */
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../src/queue/keys';
import { startProxy } from '../../tools/harness/proxy';
import { startService, testServers } from '../support/service';
import { until } from '../support/wait';

test('other workers take the partitions of a worker that is cut off from the database', async () => {
  const redis = new Redis(testServers().redisUrl);
  const service = await startService({ workers: 1 });
  const url = new URL(String(service.env.MONGO_URL));
  const proxy = await startProxy(Number(url.port), url.hostname);
  let isOver = false;
  let callers: Promise<void>[] = [];
  try {
    const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
    const held = async () => Object.values(await redis.hgetall(keys.workers)).map(Number);
    const areEven = async () => {
      const counts = await held();
      return counts.length === 2 && Math.min(...counts) >= 0.5 * Math.max(...counts);
    };
    let written = 0;
    const caller = async (externalId: string) => {
      for (let n = 1; !isOver; n += 1) {
        const matter = { matterType: 'TODO', externalId, title: `t${n}` };
        const { code } = await service.push('upsert', matter);
        if (code === 0) written += 1;
      }
    };
    callers = Array.from({ length: 32 }, (_, n) => caller(`K-${n}`));

    url.port = String(proxy.port);
    url.search = '?directConnection=true';
    await service.startWorker({ MONGO_URL: url.href });
    await until('both to have about the same', areEven);
    proxy.setDropping(true);
    await until('one to be left', async () => (await held()).length === 1);
    const before = written;
    await until('pushes to be written', async () => written >= before + 1_000);
    expect(await held()).toHaveLength(1);
    proxy.setDropping(false);
    await until('both to have about the same again', areEven);
  } finally {
    isOver = true;
    await Promise.all(callers);
    await service.stop();
    proxy.close();
    redis.disconnect();
  }
}, 120_000);
