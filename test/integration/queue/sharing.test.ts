/**
 * Workers that come and go: they share the partitions, whose number follows them, and no push is lost or out
 * of its order; and a queue with several shards.
 */
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../../src/queue/keys';
import { createPartitionStates } from '../../../src/queue/partition-states';
import { startPartitioning } from '../../../src/queue/partitioning';
import { agreeOnShards } from '../../../src/queue/shard-count';
import { entryModel } from '../../../src/storage/push-log/entry-model';
import { openPartitions } from '../../support/partitions';
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
    const before = await openPartitions(redis, keysOf(), { pushes: 1, bytes: 1 }).count();

    const others = await Promise.all([1, 2, 3].map(() => service.startWorker()));
    await until('all four to have about the same', async () => {
      const held = await holdings();
      return held.length === 4 && Math.min(...held) >= 0.5 * Math.max(...held);
    });
    await until('the partitions to follow', async () => {
      const now = await openPartitions(redis, keysOf(), { pushes: 1, bytes: 1 }).count();
      return now > before;
    });
    others[0]?.kill('SIGKILL');
    await others[1]?.stop();
    await until('two to be left, with everything', async () => (await holdings()).length === 2);

    isOver = true;
    await Promise.all(callers);
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
    const states = await createPartitionStates(redis, keysOf())();
    expect(states.every(({ waiting }) => waiting === 0)).toBe(true);
  });

  test('partitions follow the workers again where Redis has lost how many there are', async () => {
    const { count } = openPartitions(redis, keysOf(), { pushes: 1, bytes: 1 });
    const fewest = startPartitioning(shards).count;
    while ((await holdings()).length < 3) {
      const before = (await holdings()).length;
      await service.startWorker();
      await until('it to be alive', async () => (await holdings()).length > before);
    }
    await until('partitions for three', async () => (await count()) > fewest);
    const names = Array.from({ length: shards }, (_, shard) => keysOf().partitioning(shard));
    await Promise.all(names.map((name) => redis.del(name)));
    await until('as many again', async () => (await count()) > fewest);
  });

  test('the number of shards is told again where Redis has lost it', async () => {
    await redis.del(keysOf().shardCount);
    await until('a heartbeat', async () => {
      return (await redis.get(keysOf().shardCount)) === String(shards);
    });
  });
});

describe('the number of shards', () => {
  const namespace = `t-shards-${process.pid}`;
  const agree = (shards: number) =>
    agreeOnShards(redis, createRedisKeys(namespace, shards), namespace);
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
    await agree(2);
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
    await agree(4);
  });
});
