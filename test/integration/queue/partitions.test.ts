/**
 * The partitions in Redis: order, bounds, deadlines, and what a batch that was overtaken may not do.
 */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import type { Partitions } from '../../../src/queue/commands/partitions';
import { createReadWaiting } from '../../../src/queue/commands/read-waiting';
import { countWorkers, leaseWorkerNumber } from '../../../src/queue/commands/worker-number';
import { createRedisKeys } from '../../../src/queue/keys';
import type { Batch, PushMessage } from '../../../src/queue/records';
import { aDelete, aPush } from '../../support/builders';
import {
  openPartitions,
  ownerCalled,
  PARTITIONS,
  partitionOfKey,
  readHeld,
  take,
} from '../../support/partitions';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

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
  await redis.del(keys.owners(0), keys.partitionBytes(0));
});
afterAll(async () => {
  const left = await redis.keys(`${keys.bullPrefix(0)}*`);
  if (left.length > 0) await redis.del(left);
  redis.disconnect();
});

const KEY = { clientId: 'tester', systemCode: 'S', externalId: 'E' };
const PARTITION = partitionOfKey(KEY.systemCode, KEY.externalId);
const ids = Array.from({ length: 9 }, () => randomBytes(12).toString('hex'));
const push = (n: number) => aPush({ ...KEY, id: ids[n] ?? '', operation: aDelete(), bodyHash: '' });
/** Milliseconds. Longer than this process may stand still. */
const TIMEOUT = 600_000;
const append = (...numbers: number[]) =>
  partitions.append(
    0,
    numbers.map((n) => ({ push: push(n), timeout: TIMEOUT })),
  );
/** As if the first push of the partition had come so many milliseconds ago, by the time of Redis. */
async function setAge(ms: number): Promise<void> {
  const list = keys.partition(PARTITION);
  const item = String(await redis.lindex(list, 0));
  const at = String((await redisNow()) - ms).padStart(13, '0');
  await redis.lset(list, 0, item.slice(0, 13) + at + item.slice(26));
}
const redisNow = async () => {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
};
const read = (id: string) => take(partitions, [PARTITION], id);
const replyAndRemove = async (batch: Batch) => [
  ...(await partitions.replyAndRemove(batch, [], batch.now)).values(),
];
const pushesIn = ({ records }: Batch) => records.flatMap(({ pushes }) => pushes);
const idsIn = async (id: string) => pushesIn(await read(id)).map((one) => one.id);

test('pushes are read in the order of their acceptance, with their deadline in the time of Redis', async () => {
  await append(0, 1);
  await append(2);
  const batch = await read('a');
  expect(pushesIn(batch).map(({ id }) => id)).toEqual(ids.slice(0, 3));
  expect(pushesIn(batch)[0]).toMatchObject({ ...push(0), deadline: expect.any(Number) });
  const left = Number(pushesIn(batch)[0]?.deadline) - batch.now;
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(TIMEOUT);
});

test('a partition that was empty asks for a job where nobody holds it, and rings whoever does', async () => {
  expect((await append(0, 1)).toSchedule).toEqual([PARTITION]);
  expect((await append(2)).toSchedule).toEqual([]);
  const subscriber = redis.duplicate();
  await subscriber.subscribe(`${keys.wakeUpPrefix}a`);
  const rung: string[] = [];
  subscriber.on('message', (_channel, numbers) => rung.push(numbers));
  await replyAndRemove(await read('a'));
  expect((await append(3)).toSchedule).toEqual([]);
  await until('the ring', async () => rung.length > 0);
  expect(rung).toEqual([String(PARTITION)]);
  subscriber.disconnect();
});

test('what another worker has taken is not read any more', async () => {
  await append(0);
  await read('a');
  await read('b');
  const { records, unread } = await readHeld(partitions, [PARTITION], 'a');
  expect(records).toEqual([]);
  expect(unread.get(PARTITION)).toBe('LOST');
  expect(pushesIn(await readHeld(partitions, [PARTITION], 'b'))).toHaveLength(1);
});

test('a batch is held until another worker takes its partition, or Redis has lost who has it', async () => {
  await append(0);
  const batch = await read('a');
  expect(await partitions.isOwned(batch)).toBe(true);
  const next = await read('b');
  expect(await partitions.isOwned(batch)).toBe(false);
  expect(await partitions.isOwned(next)).toBe(true);
  await redis.del(keys.owners(0));
  expect(await partitions.isOwned(next)).toBe(false);
});

describe('a partition that is let go', () => {
  test('is kept where pushes came, and rung for once it is gone', async () => {
    await append(0);
    const batch = await read('a');
    expect([...(await partitions.release([PARTITION], 'a', 'IDLE'))]).toEqual([]);
    await replyAndRemove(batch);
    expect([...(await partitions.release([PARTITION], 'a', 'IDLE'))]).toEqual([[PARTITION, 0]]);
    expect((await append(1)).toSchedule).toEqual([PARTITION]);
  });

  test('with pushes tells how many are left to others', async () => {
    await append(0, 1);
    await read('a');
    expect([...(await partitions.release([PARTITION], 'a', 'ALL'))]).toEqual([[PARTITION, 2]]);
    expect((await read('b')).fencedOwners).toEqual([]);
  });

  test('keeps the names of those whose work may still have to be ended', async () => {
    await append(0);
    await read('dead');
    await read('a');
    await partitions.release([PARTITION], 'a', 'ALL');
    expect((await read('b')).fencedOwners).toEqual([ownerCalled('dead')]);
  });

  test('stays with another one who took it', async () => {
    await read('a');
    await read('b');
    expect([...(await partitions.release([PARTITION], 'a', 'ALL'))]).toEqual([[PARTITION, 0]]);
    expect((await readHeld(partitions, [PARTITION], 'b')).unread.size).toBe(0);
  });
});

describe('what is looked after', () => {
  const due = (id: string, alive?: readonly string[]) => partitions.findDue(0, id, alive);
  beforeEach(() => redis.del(keys.sweep(0)));

  test('is what nobody holds, once in a while for all workers', async () => {
    await append(0);
    // From now on Redis knows the script.
    await due('a');
    await redis.del(keys.sweep(0));
    // Sent together: a process that stands still between them would make them two looks of different times.
    expect(await Promise.all([due('a'), due('b')])).toEqual([[PARTITION], []]);
  });

  test('is what a worker holds and does not get done', async () => {
    await append(0);
    await read('a');
    // In the future, so that it does not wait for long in a process that stands still.
    await setAge(-3_600_000);
    expect(await due('a')).toEqual([]);
    await setAge(1_000);
    expect(await due('a')).toEqual([PARTITION]);
    const ofOther = await until('a look of another one within the second after', async () => {
      const began = await redisNow();
      await setAge(1_000);
      await redis.del(keys.sweep(0));
      const found = await due('b');
      return (await redisNow()) - began < 900 && { found };
    });
    expect(ofOther.found).toEqual([]);
    await setAge(3_000);
    await redis.del(keys.sweep(0));
    expect(await due('b')).toEqual([PARTITION]);
  });

  test('is what a worker held that lives no more, where nothing waits', async () => {
    await read('dead');
    expect(await due('a', ['a', 'dead'])).toEqual([]);
    await redis.del(keys.sweep(0));
    // Who is alive may not be known yet.
    expect(await due('a')).toEqual([]);
    await redis.del(keys.sweep(0));
    expect(await due('a', ['a'])).toEqual([PARTITION]);
  });

  test('is what nobody holds whose last owners are still to be ended, where nothing waits', async () => {
    await read('dead');
    await read('a');
    await partitions.release([PARTITION], 'a', 'ALL');
    expect(await due('a', ['a', 'dead'])).toEqual([PARTITION]);
    await replyAndRemove(await read('a'));
    await partitions.release([PARTITION], 'a', 'ALL');
    await redis.del(keys.sweep(0));
    expect(await due('a', ['a', 'dead'])).toEqual([]);
    expect(await redis.exists(keys.owners(0))).toBe(0);
  });
});

test('a full partition takes no more', async () => {
  const { appended } = await append(0, 1, 2, 3, 4, 5);
  const full = ['PARTITION_FULL', 'PARTITION_FULL'];
  expect(appended).toEqual([...Array(4).fill('APPENDED'), ...full]);
});

describe('a partition that is bounded in bytes', () => {
  const large = (n: number): PushMessage => ({ ...push(n), bodyHash: 'x'.repeat(400) });
  const appendLarge = async (...numbers: number[]) => {
    const pushes = numbers.map((n) => ({ push: large(n), timeout: 5_000 }));
    return (await partitions.append(0, pushes)).appended;
  };
  const bytes = () => redis.hget(keys.partitionBytes(0), String(PARTITION));

  test('takes what fits, and again once there is room', async () => {
    expect(await appendLarge(0, 1)).toEqual(['APPENDED', 'PARTITION_BYTES_FULL']);
    expect(await appendLarge(2)).toEqual(['PARTITION_BYTES_FULL']);
    // A smaller one still has room.
    expect((await append(3)).appended).toEqual(['APPENDED']);
    await replyAndRemove(await take(partitions, [PARTITION], 'a', 1));
    expect(await appendLarge(2)).toEqual(['APPENDED']);
    await replyAndRemove(await read('a'));
    expect(await bytes()).toBeNull();
  });

  test('counts what Redis holds', async () => {
    await append(0, 1);
    await replyAndRemove(await take(partitions, [PARTITION], 'a', 1));
    await append(2);
    const items = await redis.lrange(keys.partition(PARTITION), 0, -1);
    expect(await bytes()).toBe(String(items.join('').length));
  });

  test('takes one that is too large for it where nothing else waits', async () => {
    const huge = { push: { ...push(0), bodyHash: 'x'.repeat(5_000) }, timeout: 5_000 };
    expect((await partitions.append(0, [huge])).appended).toEqual(['APPENDED']);
    expect((await append(1)).appended).toEqual(['PARTITION_BYTES_FULL']);
  });

  test('counts anew when it was empty, whoever forgot to count', async () => {
    await redis.hset(keys.partitionBytes(0), String(PARTITION), 10_000);
    expect((await append(0)).appended).toEqual(['APPENDED']);
    expect(Number(await bytes())).toBeLessThan(1_000);
  });

  test('loses nothing of its count to a batch that was overtaken', async () => {
    await append(0);
    const overtaken = await read('a');
    await replyAndRemove(await read('b'));
    await append(1);
    const counted = await bytes();
    await replyAndRemove(overtaken);
    expect(await bytes()).toBe(counted);
  });
});

describe('a batch is bounded in bytes', () => {
  const MOST = 4 * 1024 * 1024;
  const LARGEST = 1024 * 1024;
  const appendLarge = async (externalId: string, sizes: readonly number[]) => {
    const pushes = sizes.map((size) => ({
      push: {
        ...push(0),
        externalId,
        id: randomBytes(12).toString('hex'),
        bodyHash: 'x'.repeat(size),
      },
      timeout: 5_000,
    }));
    expect((await partitions.append(0, pushes)).appended).toEqual(sizes.map(() => 'APPENDED'));
    return partitionOfKey(KEY.systemCode, externalId);
  };
  const bytesOf = ({ records }: Batch) => records.reduce((sum, { bytes }) => sum + bytes, 0);
  beforeEach(() => {
    partitions = openPartitions(redis, keys, { pushes: 100, bytes: 64 * LARGEST });
  });

  test('of one partition', async () => {
    await appendLarge('E', Array(40).fill(300_000));
    const batch = await read('a');
    expect(pushesIn(batch)).toHaveLength(13);
    expect(bytesOf(batch)).toBeLessThanOrEqual(MOST);
    expect(await replyAndRemove(batch)).toEqual([27]);
  });

  test('also where large ones follow small ones', async () => {
    await appendLarge('E', [...Array(8).fill(10), ...Array(32).fill(LARGEST)]);
    expect(pushesIn(await read('a'))).toHaveLength(11);
  });

  test('one that is larger goes alone', async () => {
    await appendLarge('E', [2 * MOST, 10, 10]);
    const batch = await read('a');
    expect(pushesIn(batch)).toHaveLength(1);
    expect(await replyAndRemove(batch)).toEqual([2]);
    expect(pushesIn(await read('a'))).toHaveLength(2);
  });

  test('of many partitions together, and each of them gets on', async () => {
    const numbers = new Set<number>();
    for (let n = 0; numbers.size < 16; n += 1) {
      const number = partitionOfKey(KEY.systemCode, `K-${n}`);
      if (!numbers.has(number)) await appendLarge(`K-${n}`, [LARGEST, LARGEST]);
      numbers.add(number);
    }
    const wanted = [...numbers];
    const seen = new Map<number, number>();
    let batch = await take(partitions, wanted, 'a');
    while (seen.size < wanted.length || [...seen.values()].some((count) => count < 2)) {
      expect(pushesIn(batch).length).toBeGreaterThan(0);
      expect(bytesOf(batch)).toBeLessThanOrEqual(MOST + 1.1 * LARGEST);
      for (const { partition, pushes } of batch.records) {
        if (pushes.length > 0) seen.set(partition, (seen.get(partition) ?? 0) + pushes.length);
      }
      const left = await partitions.replyAndRemove(batch, [], batch.now);
      for (const partition of wanted) {
        expect(left.get(partition)).toBe(2 - (seen.get(partition) ?? 0));
      }
      batch = await readHeld(partitions, wanted, 'a');
    }
  });
});

test('reading removes nothing; finishing trims what was read and tells what is left', async () => {
  await append(0, 1);
  expect(await idsIn('a')).toEqual(ids.slice(0, 2));
  const batch = await read('a');
  await append(2);
  expect(await replyAndRemove(batch)).toEqual([1]);
  expect(await idsIn('a')).toEqual([ids[2]]);
  await setAge(-3_600_000);
  await redis.del(keys.sweep(0));
  expect(await partitions.findDue(0, 'another')).toEqual([]);
  await partitions.release([PARTITION], 'a', 'ALL');
  await redis.del(keys.sweep(0));
  expect(await partitions.findDue(0, 'another')).toEqual([PARTITION]);
});

test('a batch that was overtaken trims nothing of what came after it', async () => {
  await append(0, 1);
  const overtaken = await read('a');
  const successor = await read('b');
  await replyAndRemove(successor);
  await append(2, 3);
  expect(await replyAndRemove(overtaken)).toEqual([2]);
  expect(await idsIn('b')).toEqual([ids[2], ids[3]]);
});

test('of a partition whose end a failover of Redis took, a batch trims nothing that it never read', async () => {
  await append(0, 1, 2);
  const batch = await read('a');
  // The new primary had not heard of the last two.
  await redis.ltrim(keys.partition(PARTITION), 0, 0);
  await append(3, 4);
  expect(await replyAndRemove(batch)).toEqual([3]);
  expect(await idsIn('a')).toEqual([ids[0], ids[3], ids[4]]);
});

test('a batch names every owner before it that did not let go of its partitions, until it has acknowledged', async () => {
  await append(0);
  expect((await read('a')).fencedOwners).toEqual([]);
  expect((await read('a')).fencedOwners).toEqual([]);
  expect((await read('b')).fencedOwners).toEqual([ownerCalled('a')]);
  const taken = await read('c');
  expect(taken.fencedOwners).toEqual([ownerCalled('b'), ownerCalled('a')]);
  await replyAndRemove(taken);
  await append(1);
  expect((await readHeld(partitions, [PARTITION], 'c')).fencedOwners).toEqual([]);
  expect((await read('d')).fencedOwners).toEqual([ownerCalled('c')]);
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
  const reply = (n: number, replyTo: string) => ({ id: String(ids[n]), replyTo, settlement: n });
  await partitions.replyAndRemove(await read('a'), [reply(0, 'one'), reply(1, 'two')], 5);
  await both;
  expect(messages).toEqual([
    [
      keys.replies('one'),
      JSON.stringify([
        [ids[0], 0],
        ['', 5],
      ]),
    ],
    [
      keys.replies('two'),
      JSON.stringify([
        [ids[1], 1],
        ['', 5],
      ]),
    ],
  ]);
  subscriber.disconnect();
});

test('one look tells how much waits in each partition, and for how long', async () => {
  const look = createReadWaiting(redis, keys);
  const numbers = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  expect(await look()).toEqual(
    numbers.map((partition) => ({ partition, waiting: 0, oldestMs: null, oldestId: null })),
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
  await one.stop();
  expect(await count()).toBe(1);
  await two.stop();
});

test('a worker number is held from before Redis was asked for it, not from after its answer', async () => {
  const logger = pino({ level: 'silent' });
  let late = 0;
  const now = performance.now.bind(performance);
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + late);
  // The answer is on its way for longer than the lease: the process was stopped meanwhile.
  const slow = new Proxy(redis, {
    get: (target, name) =>
      name === 'leaseWorkerNumber'
        ? async (...args: readonly unknown[]) => {
            const answer = await Reflect.get(target, name).apply(target, args);
            late += 31_000;
            return answer;
          }
        : Reflect.get(target, name),
  });
  const number = await leaseWorkerNumber(slow, keys, { max: 16, logger });
  expect(() => number.current()).toThrow('the lease of the worker number is lost');
  clock.mockRestore();
  await number.stop();
});
