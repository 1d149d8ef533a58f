/**
 * The partitions in Redis: order, bounds, deadlines, and what a batch that was overtaken may not do.
 */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { PARTITIONS, partitionOf } from '../../src/domain/group';
import { createRedisKeys } from '../../src/queue/keys';
import { createPartitionStates } from '../../src/queue/partition-states';
import type { Batch, Partitions } from '../../src/queue/partitions';
import type { QueuedPush } from '../../src/queue/push';
import { countWorkers, leaseWorkerNumber } from '../../src/queue/worker-number';
import { openPartitions } from '../support/partitions';
import { testServers } from '../support/service';
import { until } from '../support/wait';

const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
let redis: Redis;
let partitions: Partitions;
beforeAll(() => {
  redis = new Redis(testServers().redisUrl);
});
beforeEach(async () => {
  partitions = openPartitions(redis, keys, { pushes: 4, bytes: 1_000 });
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    await redis.del(keys.partition(partition));
  await redis.del(keys.owners, keys.partitionBytes);
});
afterAll(async () => {
  const left = await redis.keys(`${keys.bullPrefix}*`);
  if (left.length > 0) await redis.del(left);
  redis.disconnect();
});

const KEY = { clientId: 'tester', systemCode: 'S', externalId: 'E' };
const PARTITION = partitionOf(`${KEY.systemCode}\n${KEY.externalId}`);
const ids = Array.from({ length: 9 }, () => randomBytes(12).toString('hex'));
const push = (n: number): QueuedPush => ({
  ...KEY,
  id: ids[n] ?? '',
  operation: { op: 'delete' },
  replyTo: 'ingress',
  bodyHash: '',
});
const append = (...numbers: number[]) =>
  partitions.append(numbers.map((n) => ({ push: push(n), timeout: 5_000 })));
const read = (owner: string) => partitions.read([PARTITION], owner);
const pushesIn = ({ records }: Batch) => records.flatMap(({ pushes }) => pushes);
const idsIn = async (owner: string) => pushesIn(await read(owner)).map(({ id }) => id);

test('pushes are read in the order of their acceptance, with their deadline in the time of Redis', async () => {
  await append(0, 1);
  await append(2);
  const batch = await read('a');
  expect(pushesIn(batch).map(({ id }) => id)).toEqual(ids.slice(0, 3));
  expect(pushesIn(batch)[0]).toMatchObject({ ...push(0), deadline: expect.any(Number) });
  const left = Number(pushesIn(batch)[0]?.deadline) - batch.now;
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(5_000);
});

test('only a partition that was empty asks for a job', async () => {
  expect((await append(0, 1)).toSchedule).toEqual([PARTITION]);
  expect((await append(2)).toSchedule).toEqual([]);
  await partitions.acknowledge(await read('a'), []);
  expect((await append(3)).toSchedule).toEqual([PARTITION]);
});

test('a full partition takes no more', async () => {
  const { appended } = await append(0, 1, 2, 3, 4, 5);
  const full = ['PARTITION_FULL', 'PARTITION_FULL'];
  expect(appended).toEqual([...Array(4).fill('APPENDED'), ...full]);
});

describe('a partition that is bounded in bytes', () => {
  const large = (n: number): QueuedPush => ({ ...push(n), bodyHash: 'x'.repeat(400) });
  const appendLarge = async (...numbers: number[]) => {
    const pushes = numbers.map((n) => ({ push: large(n), timeout: 5_000 }));
    return (await partitions.append(pushes)).appended;
  };
  const bytes = () => redis.hget(keys.partitionBytes, String(PARTITION));

  test('takes what fits, and again once there is room', async () => {
    expect(await appendLarge(0, 1)).toEqual(['APPENDED', 'PARTITION_BYTES_FULL']);
    expect(await appendLarge(2)).toEqual(['PARTITION_BYTES_FULL']);
    // A smaller one still has room.
    expect((await append(3)).appended).toEqual(['APPENDED']);
    await partitions.acknowledge(await partitions.read([PARTITION], 'a', 1), []);
    expect(await appendLarge(2)).toEqual(['APPENDED']);
    await partitions.acknowledge(await read('a'), []);
    expect(await bytes()).toBeNull();
  });

  test('counts what Redis holds', async () => {
    await append(0, 1);
    await partitions.acknowledge(await partitions.read([PARTITION], 'a', 1), []);
    await append(2);
    const items = await redis.lrange(keys.partition(PARTITION), 0, -1);
    expect(await bytes()).toBe(String(items.join('').length));
  });

  test('takes one that is too large for it where nothing else waits', async () => {
    const huge = { push: { ...push(0), bodyHash: 'x'.repeat(5_000) }, timeout: 5_000 };
    expect((await partitions.append([huge])).appended).toEqual(['APPENDED']);
    expect((await append(1)).appended).toEqual(['PARTITION_BYTES_FULL']);
  });

  test('counts anew when it was empty, whoever forgot to count', async () => {
    await redis.hset(keys.partitionBytes, String(PARTITION), 10_000);
    expect((await append(0)).appended).toEqual(['APPENDED']);
    expect(Number(await bytes())).toBeLessThan(1_000);
  });

  test('loses nothing of its count to a batch that was overtaken', async () => {
    await append(0);
    const overtaken = await read('a');
    await partitions.acknowledge(await read('b'), []);
    await append(1);
    const counted = await bytes();
    await partitions.acknowledge(overtaken, []);
    expect(await bytes()).toBe(counted);
  });
});

test('reading removes nothing; finishing trims what was read and tells what is left', async () => {
  await append(0, 1);
  expect(await idsIn('a')).toEqual(ids.slice(0, 2));
  const batch = await read('a');
  await append(2);
  expect(await partitions.acknowledge(batch, [])).toEqual([1]);
  expect(await idsIn('a')).toEqual([ids[2]]);
  expect(await partitions.waiting()).toEqual([PARTITION]);
});

test('a batch that was overtaken trims nothing of what came after it', async () => {
  await append(0, 1);
  const overtaken = await read('a');
  const successor = await read('b');
  await partitions.acknowledge(successor, []);
  await append(2, 3);
  expect(await partitions.acknowledge(overtaken, [])).toEqual([2]);
  expect(await idsIn('b')).toEqual([ids[2], ids[3]]);
});

test('of a partition whose end a failover of Redis took, a batch trims nothing that it never read', async () => {
  await append(0, 1, 2);
  const batch = await read('a');
  // The new primary had not heard of the last two.
  await redis.ltrim(keys.partition(PARTITION), 0, 0);
  await append(3, 4);
  expect(await partitions.acknowledge(batch, [])).toEqual([3]);
  expect(await idsIn('a')).toEqual([ids[0], ids[3], ids[4]]);
});

test('a batch names every earlier owner of its partitions that never acknowledged', async () => {
  await append(0);
  expect((await read('a')).fencedOwners).toEqual([]);
  expect((await read('a')).fencedOwners).toEqual([]);
  expect((await read('b')).fencedOwners).toEqual(['a']);
  const taken = await read('c');
  expect(taken.fencedOwners).toEqual(['b', 'a']);
  await partitions.acknowledge(taken, []);
  await append(1);
  expect((await read('d')).fencedOwners).toEqual([]);
});

test('replies go out with the trim, a message per web process', async () => {
  const subscriber = redis.duplicate();
  await subscriber.subscribe(keys.replies('one'), keys.replies('two'));
  const messages: [string, string][] = [];
  const both = new Promise<void>((resolve) => {
    subscriber.on('message', (channel, payload) => {
      messages.push([channel, payload]);
      if (messages.length === 2) resolve();
    });
  });
  await append(0);
  await partitions.acknowledge(await read('a'), [
    { ingressId: 'one', payload: 'x' },
    { ingressId: 'two', payload: 'y' },
  ]);
  await both;
  expect(messages).toEqual([
    [keys.replies('one'), 'x'],
    [keys.replies('two'), 'y'],
  ]);
  subscriber.disconnect();
});

test('one look tells how much waits in each partition, and for how long', async () => {
  const look = createPartitionStates(redis, keys);
  expect(await look()).toEqual(
    Array(PARTITIONS).fill({ waiting: 0, oldestMs: null, oldestId: null }),
  );
  await append(0, 1);
  const item = await redis.lindex(keys.partition(PARTITION), 0);
  await until(
    'the first one to be older',
    async () => Number((await look())[PARTITION]?.oldestMs) > 50,
  );
  await append(2);
  const states = await look();
  expect(states[PARTITION]?.waiting).toBe(3);
  // By its first push, whatever came after it.
  expect(states[PARTITION]?.oldestMs).toBeGreaterThan(50);
  expect(item?.slice(26)).toMatch(new RegExp(`^${states[PARTITION]?.oldestId}{`));
  expect(states.filter(({ waiting }) => waiting > 0)).toHaveLength(1);
  expect(await redis.lindex(keys.partition(PARTITION), 0)).toBe(item);
});

test('workers are counted by the numbers that they hold', async () => {
  const logger = pino({ level: 'silent' });
  const count = () => countWorkers(redis, keys, 16);
  expect(await count()).toBe(0);
  const one = await leaseWorkerNumber(redis, keys, { max: 16, logger });
  const two = await leaseWorkerNumber(redis, keys, { max: 16, logger });
  expect(await count()).toBe(2);
  await one.release();
  expect(await count()).toBe(1);
  await two.release();
});
