/** Clients that share a partition: one that floods it is rejected itself, and the others have room (contract 6.7). */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { PartitionLimits } from '../../../src/queue/commands/append-pushes';
import type { Partitions } from '../../../src/queue/commands/partitions';
import { createRedisKeys } from '../../../src/queue/keys';
import { decodeItem, type TimedPush } from '../../../src/queue/records';
import { aDelete, aPush } from '../../support/builders';
import { openPartitions, partitionOfKey, take } from '../../support/partitions';
import { testServers } from '../../support/service';

const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
const KEY = { systemCode: 'S', externalId: 'E' };
const PARTITION = partitionOfKey(KEY.systemCode, KEY.externalId);
const LIST = keys.partition(PARTITION);

let redis: Redis;
let partitions: Partitions;
beforeAll(() => {
  redis = new Redis(testServers().redisUrl);
});
beforeEach(() => limitTo({ pushes: 6, bytes: 1_000_000 }));
afterEach(async () => {
  const left = await redis.keys(`${keys.bullPrefix(0)}*`);
  if (left.length > 0) await redis.del(left);
});
afterAll(() => redis.disconnect());

function limitTo(limits: PartitionLimits): void {
  partitions = openPartitions(redis, keys, limits);
}

const aTimedPush = (clientId: string, size = 0): TimedPush => ({
  push: aPush({
    ...{ ...KEY, clientId, id: randomBytes(12).toString('hex') },
    ...{ operation: aDelete(), bodyHash: 'x'.repeat(size) },
  }),
  timeout: 5_000,
});

/** Appends pushes of these clients with one command. */
const append = async (...clients: readonly string[]) =>
  (
    await partitions.append(
      0,
      clients.map((client) => aTimedPush(client)),
    )
  ).appended;

const appendLarge = async (client: string, size: number) =>
  (await partitions.append(0, [aTimedPush(client, size)])).appended;

const repeat = <T>(value: T, times: number): T[] => Array<T>(times).fill(value);

/** Applies the first pushes of the partition. */
async function apply(count: number): Promise<void> {
  await partitions.replyAndRemove(await take(partitions, [PARTITION], 'worker', count), [], 0);
}

type Tally = Readonly<Record<string, readonly [pushes: number, bytes: number]>>;

/** The tally in Redis; null if the partition has none. */
async function storedTally(): Promise<Tally | null> {
  const text = await redis.hget(keys.partitionClients(0), String(PARTITION));
  return text === null ? null : JSON.parse(text);
}

/** The tally that the pushes in the partition should have. */
async function trueTally(): Promise<Tally> {
  const tally: Record<string, readonly [number, number]> = {};
  for (const item of await redis.lrange(LIST, 0, -1)) {
    // A tally has client ids as JSON escapes them.
    const client = JSON.stringify(decodeItem(item).clientId).slice(1, -1);
    const [pushes, bytes] = tally[client] ?? [0, 0];
    tally[client] = [pushes + 1, bytes + item.length];
  }
  return tally;
}

const FULL = 'PARTITION_FULL';
const BYTES_FULL = 'PARTITION_BYTES_FULL';

test('a client that is alone may fill the partition, and the next client still has half of it', async () => {
  expect(await append(...repeat('flood', 7))).toEqual([...repeat('APPENDED', 6), FULL]);
  expect(await append('quiet')).toEqual(['APPENDED']);
  expect(await append('flood')).toEqual([FULL]);
  expect(await append('quiet', 'quiet')).toEqual(repeat('APPENDED', 2));
  expect(await append('quiet')).toEqual([FULL]);
  // The excess of one client leaves the room of all other clients together.
  expect(await append('third')).toEqual([FULL]);
});

test('beside another client, a client may fill half of the partition', async () => {
  expect(await append('quiet')).toEqual(['APPENDED']);
  expect(await append(...repeat('flood', 4))).toEqual([...repeat('APPENDED', 3), FULL]);
  expect(await append(...repeat('quiet', 3))).toEqual([...repeat('APPENDED', 2), FULL]);
  expect(await append('third')).toEqual([FULL]);
});

test('more clients share the partition, up to its limit', async () => {
  expect(await append('a', 'b', 'c', 'a', 'b', 'c')).toEqual(repeat('APPENDED', 6));
  expect(await append('a', 'd')).toEqual([FULL, FULL]);
});

test('the rejection of a client rejects its later pushes of the same command, and no push of another client', async () => {
  await append('quiet', ...repeat('flood', 3));
  const size = 10_000;
  limitTo({ pushes: 100, bytes: 6_000 });
  const mixed = [
    aTimedPush('flood', size),
    aTimedPush('quiet'),
    aTimedPush('flood'),
    aTimedPush('third'),
  ];
  const { appended } = await partitions.append(0, mixed);
  expect(appended).toEqual([BYTES_FULL, 'APPENDED', BYTES_FULL, 'APPENDED']);
});

test('a client is accepted again once less than half is its own', async () => {
  await append(...repeat('flood', 6));
  await append('quiet');
  await apply(3);
  expect(await append('flood')).toEqual([FULL]);
  await apply(1);
  expect(await append('flood', 'flood')).toEqual(['APPENDED', FULL]);
  await apply(3);
  // Only its own pushes are left.
  expect(await append(...repeat('flood', 6))).toEqual([...repeat('APPENDED', 5), FULL]);
});

describe('bytes', () => {
  const LARGE = 2_000;
  beforeEach(() => limitTo({ pushes: 100, bytes: 5 * LARGE }));

  test('a client that is alone may use all of them, and the next client still has half', async () => {
    const flood = await partitions.append(
      0,
      repeat(0, 5).map(() => aTimedPush('flood', LARGE)),
    );
    expect(flood.appended).toEqual([...repeat('APPENDED', 4), BYTES_FULL]);
    expect(await appendLarge('quiet', LARGE)).toEqual(['APPENDED']);
    expect(await appendLarge('flood', 0)).toEqual([BYTES_FULL]);
    expect(await appendLarge('quiet', LARGE)).toEqual(['APPENDED']);
    expect(await appendLarge('quiet', LARGE)).toEqual([BYTES_FULL]);
  });

  test('the first push of a client may be larger than its half', async () => {
    await append('quiet');
    expect(await appendLarge('other', 3 * LARGE)).toEqual(['APPENDED']);
    expect(await append('other')).toEqual([BYTES_FULL]);
    expect(await append('quiet')).toEqual(['APPENDED']);
  });
});

describe('the tally of a partition', () => {
  test('exists while the partition holds much, and until it is empty', async () => {
    await append('a', 'b', 'a');
    expect(await storedTally()).toBeNull();
    await append('b');
    expect(await storedTally()).toEqual(await trueTally());
    await apply(2);
    expect(await storedTally()).toEqual(await trueTally());
    await append('c');
    expect(await storedTally()).toEqual(await trueTally());
    await apply(3);
    expect(await redis.exists(keys.partitionClients(0))).toBe(0);
  });

  test('is right after many appends and removals of different sizes', async () => {
    limitTo({ pushes: 4_000, bytes: 10_000_000 });
    const clients = ['oa', 'a"b', 'c\\', '","', '{"clientId":"oa","', '7'];
    const seen = new Set<boolean>();
    for (let round = 0; round < 12; round += 1) {
      const pushes = Array.from({ length: 150 }, (_, n) =>
        aTimedPush(clients[(n * (round + 1) + round) % clients.length] ?? '', n * 3),
      );
      await partitions.append(0, pushes);
      if (round % 2 > 0) await apply(80 + round);
      const isStored = (await storedTally()) !== null;
      if (isStored) expect(await storedTally()).toEqual(await trueTally());
      else expect(await redis.llen(LIST)).toBeLessThan(500);
      seen.add(isStored);
    }
    expect(seen.size).toBe(2);
    while ((await redis.llen(LIST)) > 0) await apply(250);
    expect(await redis.exists(keys.partitionClients(0))).toBe(0);
  });

  test('is counted again after a process of an earlier version appended or removed pushes', async () => {
    await append(...repeat('flood', 6));
    await append('quiet');
    await redis.ltrim(LIST, 4, -1);
    expect(await append('flood', 'flood')).toEqual(['APPENDED', FULL]);
    expect(await storedTally()).toEqual(await trueTally());
    await redis.del(LIST);
    expect(await append(...repeat('flood', 7))).toEqual([...repeat('APPENDED', 6), FULL]);
    expect(await storedTally()).toEqual(await trueTally());
  });

  test('changes for no batch that was overtaken', async () => {
    await append('a', 'a', 'b', 'b');
    const overtaken = await take(partitions, [PARTITION], 'one', 1);
    await apply(1);
    await partitions.replyAndRemove(overtaken, [], 0);
    expect(await storedTally()).toEqual(await trueTally());
  });
});

test('a partition with room for one push has no half for others', async () => {
  limitTo({ pushes: 1, bytes: 1_000_000 });
  expect(await append('a', 'a', 'b')).toEqual(['APPENDED', FULL, FULL]);
  await apply(1);
  expect(await append('b', 'a')).toEqual(['APPENDED', FULL]);
});
