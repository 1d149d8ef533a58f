/**
 * Workers that come and go: they share the partitions, and no push is lost or out
 * of its order; and a queue with several shards.
 */
import { Redis } from 'ioredis';
import { agreeOnLayout } from '../../../src/queue/commands/agreements';
import { createReadWaiting } from '../../../src/queue/commands/read-waiting';
import { createRedisKeys } from '../../../src/queue/keys';
import { entryModel } from '../../../src/storage/push-log/entry';
import { todo } from '../../support/push-bodies';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

const redis = new Redis(testServers().redisUrl);
afterAll(() => redis.disconnect());

describe.each([1, 3])('with %d shards', (shards) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({
      processes: 'workers',
      workers: 1,
      env: { REDIS_SHARDS: String(shards) },
    });
  });
  afterAll(() => service?.stop());

  const keysOf = () => createRedisKeys(String(service.env.REDIS_NAMESPACE), shards);
  const holdings = async () => {
    const held = await redis.hgetall(keysOf().workers);
    return Object.values(held).map(Number);
  };

  test('workers that come and go share the partitions, and every key keeps its order', async () => {
    let isOver = false;
    const applied = new Map<string, number>();
    const caller = async (externalId: string) => {
      while (!isOver) {
        const n = (applied.get(externalId) ?? 0) + 1;
        const answer = await service.push('upsert', todo(externalId, { title: `t${n}` }));
        // A server that answers late, as on a busy machine, is a rejection: nothing of it is under way.
        if (answer.code === 503) continue;
        expect(answer).toMatchObject({ code: 0 });
        applied.set(externalId, n);
      }
    };
    const callers = Array.from({ length: 16 }, (_, n) => caller(`K-${n}`));
    await until('the one worker to hold partitions', async () => (await holdings())[0] ?? 0);

    const others = await Promise.all([1, 2, 3].map(() => service.startWorker()));
    await until('all four to have about the same', async () => {
      const held = await holdings();
      return held.length === 4 && Math.min(...held) >= 0.5 * Math.max(...held);
    });
    others[0]?.kill('SIGKILL');
    await others[1]?.stop();
    await until('two to be left, with everything', async () => (await holdings()).length === 2);

    isOver = true;
    await Promise.all(callers);
    // The log may have the end of a rejection a moment after its caller.
    await until('all pushes to be final', async () => {
      return (await entryModel(service.db).countDocuments({ state: 'QUEUED' })) === 0;
    });
    for (const [externalId, pushes] of applied) {
      const ofApplied = { externalId, state: { $ne: 'REFUSED' as const } };
      const entries = await entryModel(service.db).find(ofApplied).sort({ _id: 1 }).lean();
      expect(entries).toHaveLength(pushes);
      expect(entries.map(({ revision }) => revision)).toEqual(entries.map((_, n) => n + 1));
    }
  });

  test('what nobody uses any more is let go of', async () => {
    const owners = Array.from({ length: shards }, (_, shard) => keysOf().owners(shard));
    await until('no partition to be held', async () => {
      return (await Promise.all(owners.map((name) => redis.exists(name)))).every(
        (one) => one === 0,
      );
    });
    const states = await createReadWaiting(redis, keysOf())();
    expect(states.every(({ waiting }) => waiting === 0)).toBe(true);
  });

  test('the layout is recorded again if Redis has lost it', async () => {
    await redis.del(keysOf().layout);
    await until('a heartbeat', async () => {
      return (await redis.get(keysOf().layout)) === `${shards} 64`;
    });
  });
});

describe('the layout of the queue', () => {
  const namespace = `t-shards-${process.pid}`;
  const agree = (shards: number, partitions?: number) =>
    agreeOnLayout(redis, createRedisKeys(namespace, shards, partitions), namespace);
  const clear = async () => {
    const left = [
      ...(await redis.keys(`{${namespace}}*`)),
      ...(await redis.keys(`{${namespace}:*`)),
    ];
    if (left.length > 0) await redis.del(left);
  };
  afterEach(clear);

  test('is that of the first process', async () => {
    await agree(4);
    await agree(4);
  });

  test('changes where nothing waits and nobody is alive', async () => {
    await agree(4);
    await agree(2);
    await agree(2, 16);
    await agree(2, 16);
  });

  test.each([
    ['a push waits', () => redis.hset(createRedisKeys(namespace, 4).partitionBytes(3), '3', 1)],
    [
      'a process is alive',
      () => redis.zadd(createRedisKeys(namespace, 4).processHeartbeats, Date.now(), 'one'),
    ],
  ])('cannot change where %s', async (_what, make) => {
    await agree(4);
    await make();
    await expect(agree(2)).rejects.toThrow(
      'REDIS_SHARDS is 2, but the queue has 4 shards and is in use',
    );
    await expect(agree(4, 32)).rejects.toThrow(
      'REDIS_PARTITIONS is 32, but the queue has 64 partitions in each shard and is in use',
    );
    await agree(4);
  });
});
