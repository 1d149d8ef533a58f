/** A shard that cannot be asked (the node of a Cluster that has it is away) holds up no other one. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { NO_METRICS } from '../../../src/observability/metrics';
import { startSweep } from '../../../src/queue/balance';
import { createRedisKeys } from '../../../src/queue/keys';
import { openPartitions, take } from '../../support/partitions';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

const SHARDS = 3;
const BROKEN = 1;
const namespace = `t-${randomBytes(5).toString('hex')}`;
const keys = createRedisKeys(namespace, SHARDS);
const redis = new Redis(testServers().redisUrl);
const partitions = openPartitions(redis, keys, { pushes: 100, bytes: 2 ** 20 });
const ONE_OF_EACH = Array.from({ length: SHARDS }, (_, shard) => shard);
const OTHERS = ONE_OF_EACH.filter((shard) => shard !== BROKEN);

afterEach(async () => {
  const left = await redis.keys(`{${namespace}*`);
  if (left.length > 0) await redis.del(left);
});
afterAll(() => redis.disconnect());

test('the others are swept', async () => {
  // Of another type than the script takes: it is rejected.
  await redis.set(keys.partitionBytes(BROKEN), 'broken');
  for (const shard of OTHERS) {
    await redis.hset(keys.partitionBytes(shard), String(shard), 1);
    await redis.rpush(keys.partition(shard), '0'.repeat(26));
  }
  const rung = new Set<number>();
  const sweep = startSweep({
    partitions,
    worker: {
      notify: (due) => {
        for (const one of due) rung.add(one);
      },
    },
    shards: SHARDS,
    id: 'w',
    alive: () => [],
    logger: pino({ level: 'silent' }),
    metrics: NO_METRICS,
  });
  try {
    await until('all others to be rung for', async () => OTHERS.every((one) => rung.has(one)));
  } finally {
    await sweep.stop();
  }
  expect([...rung].sort()).toEqual(OTHERS);
});

test('partitions of the others are let go of, and those of the broken one say why they are not', async () => {
  await take(partitions, ONE_OF_EACH, 'w');
  await redis.set(keys.owners(BROKEN), 'broken');
  const left = await partitions.release(ONE_OF_EACH, 'w', 'ALL');
  expect(left.get(BROKEN)).toBeInstanceOf(Error);
  for (const shard of OTHERS) {
    expect(left.get(shard)).toBe(0);
    expect(await redis.exists(keys.owners(shard))).toBe(0);
  }
});
