/**
 * Looking into the queue: what waits, which jobs there are, what is stuck; and that it changes nothing.
 */
import { randomBytes } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Partitions } from '../../../src/queue/commands/partitions';
import type { PartitionView } from '../../../src/queue/inspect/view';
import { createQueueView } from '../../../src/queue/inspect/view';
import { createPartitionJobs, type PartitionJobs } from '../../../src/queue/jobs';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { aPush } from '../../support/builders';
import { type CliRun, matterctl } from '../../support/cli-tool';
import { openPartitions, PARTITIONS, partitionOfKey, take } from '../../support/partitions';
import { testServers } from '../../support/service';

const namespace = `t-${randomBytes(5).toString('hex')}`;
const keys = createRedisKeys(namespace);
const env = { REDIS_URL: testServers().redisUrl, REDIS_NAMESPACE: namespace };
let redis: Redis;
let partitions: Partitions;
let jobs: PartitionJobs;
beforeAll(() => {
  redis = new Redis(env.REDIS_URL, { maxRetriesPerRequest: null });
  partitions = openPartitions(redis, keys, { pushes: 50_000, bytes: 2 ** 30 });
  jobs = createPartitionJobs(redis, keys);
});
const allKeys = async () => (await redis.keys(`${keys.bullPrefix(0)}*`)).sort();
const clear = async () => {
  const left = await allKeys();
  if (left.length > 0) await redis.del(left);
};
afterEach(clear);
afterAll(async () => {
  await jobs.close();
  await clear();
  redis.disconnect();
});

/** A partition and an id that hashes to it. */
const HOT = 'HOT-1';
const partition = partitionOfKey('OA', HOT);
const other = Array.from({ length: 99 }, (_, n) => `K-${n}`).find(
  (externalId) => partitionOfKey('OA', externalId) !== partition,
);
const OTHER = String(other);

async function append(externalId: string, clientId = 'oa', count = 1): Promise<void> {
  const push = () => aPush({ id: randomBytes(12).toString('hex'), clientId, externalId });
  await partitions.append(
    0,
    Array.from({ length: count }, () => ({ push: push(), timeout: 60_000 })),
  );
}

const run = (...args: string[]): Promise<CliRun> => matterctl(['queue', ...args], { env });
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
const partitionViews = (): Promise<(PartitionView & { stuck: string | null })[]> =>
  json('partitions');
const viewOf = async (number: number) => (await partitionViews())[number];

test('an empty queue is told as one', async () => {
  expect(await json('stats')).toEqual({
    waiting: 0,
    oldestMs: null,
    stuck: [],
    partitions: Array.from({ length: PARTITIONS }, (_, number) => ({
      partition: number,
      waiting: 0,
      oldestMs: null,
      oldestId: null,
      job: null,
      owner: null,
      fencedOwners: [],
    })),
    clients: [],
    hottest: [],
    cutPartitions: [],
  });
  const stats = await run('stats');
  expect(stats).toMatchObject({ exitCode: 0, stderr: '' });
  expect(stats.stdout).toMatch(/^waiting +0 *\n/);
  expect(await run('oldest')).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: 'Nothing waits.\n',
  });
});

describe('while no worker is there', () => {
  beforeEach(async () => {
    await append(OTHER, 'slow');
    await append(HOT, 'oa', 3);
    await jobs.schedule([partition]);
  });

  test('stats tell how much waits, for which clients and keys', async () => {
    const stats = await json('stats');
    const figures = {
      oldestMs: expect.any(Number),
      partition: expect.any(Number),
      systemCode: 'OA',
    };
    expect(stats).toMatchObject({ waiting: 4, oldestMs: expect.any(Number), cutPartitions: [] });
    expect(stats.hottest).toEqual([
      { ...figures, partition, externalId: HOT, waiting: 3 },
      { ...figures, externalId: OTHER, waiting: 1 },
    ]);
    expect(stats.clients).toHaveLength(2);
    expect(stats.clients).toContainEqual({
      clientId: 'oa',
      waiting: 3,
      oldestMs: figures.oldestMs,
    });
    const { stdout } = await run('stats');
    expect(stdout).toMatch(/^waiting +4 *\n/);
    expect(stdout).toMatch(/\nslow +1 /);
    expect(stdout).toMatch(new RegExp(`\nOA +${HOT} +${partition} +3 `));
  });

  test('the oldest key is the first, and --limit cuts', async () => {
    await redis.lset(
      keys.partition(partitionOfKey('OA', OTHER)),
      0,
      await aged(OTHER, 3_600_000 * 3),
    );
    const oldest = await run('oldest', '--limit', '1');
    expect(oldest.stdout).toMatch(new RegExp(`^SYSTEM .*\nOA +${OTHER} +\\d+ +1 +3 h *\n$`));
    expect(oldest.stderr).toBe('2 keys have waiting pushes: --limit shows more.\n');
    const told = await json('oldest');
    expect(told).toMatchObject({ keys: 2, oldest: [{ externalId: OTHER }, { externalId: HOT }] });
  });

  test('a partition job that nobody takes, and pushes without a job, are stuck', async () => {
    const { stuck } = await json('stats');
    expect(stuck).toContainEqual({ partition, why: 'NOT_TAKEN' });
    expect(stuck).toContainEqual({ partition: partitionOfKey('OA', OTHER), why: 'NO_JOB' });
    expect(await viewOf(partition)).toMatchObject({
      waiting: 3,
      stuck: 'NOT_TAKEN',
      job: { state: 'waiting', starts: 0, reclaimed: 0, isLocked: false },
    });
    const told = await run('partitions');
    expect(told.stdout).toMatch(new RegExp(`\n${partition} +3 .* waiting, STUCK NOT_TAKEN `));
    expect(told.stderr).toContain(
      `Partition ${partition} is stuck: the job of the partition waits`,
    );
  });

  test('a partition whose job was removed is found', async () => {
    const queue = new Queue(PARTITION_JOB_QUEUE, { connection: redis, prefix: keys.bullPrefix(0) });
    const [job] = await queue.getWaiting();
    await job?.remove();
    await queue.close();
    expect(await viewOf(partition)).toMatchObject({ job: null, stuck: 'NO_JOB' });
  });

  test('nothing is changed by looking, to the last byte', async () => {
    const dump = async () => {
      const names = await allKeys();
      const values = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
      return names.map((name, n) => [name, values[n]?.toString('hex')]);
    };
    const before = await dump();
    expect(before.length).toBeGreaterThan(4);
    for (const command of ['stats', 'partitions', 'oldest']) {
      expect(await run(command)).toMatchObject({ exitCode: 0 });
    }
    expect(await dump()).toEqual(before);
  });
});

/** The partition item of a push that has waited for so long. */
async function aged(externalId: string, ms: number): Promise<string> {
  const item = String(await redis.lindex(keys.partition(partitionOfKey('OA', externalId)), 0));
  const at = String(Number(item.slice(13, 26)) - ms).padStart(13, '0');
  return item.slice(0, 13) + at + item.slice(26);
}

test('a worker at work is seen, with the owners that it fenced; once it falls silent, it is stuck', async () => {
  await append(HOT);
  await jobs.schedule([partition]);
  const worker = new Worker(PARTITION_JOB_QUEUE, null, {
    connection: redis,
    prefix: keys.bullPrefix(0),
    lockDuration: 600_000,
  });
  const job = await worker.getNextJob('a worker', { block: false });
  await take(partitions, [partition], 'first');
  await take(partitions, [partition], 'second');
  expect(await viewOf(partition)).toMatchObject({
    job: { state: 'active', starts: 1, isLocked: true },
    owner: 'second',
    fencedOwners: ['first'],
    stuck: null,
  });
  // As if the process had died, and the lock had not been renewed.
  await redis.del(`${keys.bullPrefix(0)}:${PARTITION_JOB_QUEUE}:${job?.id}:lock`);
  expect((await viewOf(partition))?.job?.isLocked).toBe(false);
  expect(await viewOf(partition)).toMatchObject({ job: { state: 'active' }, stuck: 'LOCK_GONE' });
  await worker.close();
});

test('of a very long partition only the oldest pushes are counted, and that is told', async () => {
  await append(HOT, 'oa', 5);
  await append(OTHER);
  const view = createQueueView(redis, keys);
  const some = await view.pushes(4);
  expect(some.groups).toContainEqual(expect.objectContaining({ externalId: HOT, waiting: 4 }));
  expect(some.cutPartitions).toEqual([partition]);
  expect((await view.pushes(5)).cutPartitions).toEqual([]);
  await view.close();
  await append(HOT, 'oa', 10_000);
  const { stdout, stderr } = await run('oldest', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    keys: 2,
    oldest: [
      { externalId: HOT, waiting: 10_000 },
      { externalId: OTHER, waiting: 1 },
    ],
    cutPartitions: [partition],
  });
  expect(stderr).toContain(
    `Not all were counted: only the oldest pushes of partition ${partition},`,
  );
});

test.each(['stats', 'partitions', 'oldest'])(
  'queue %s without a Redis is one line',
  async (command) => {
    const away = { ...env, REDIS_URL: 'redis://127.0.0.1:1' };
    const { exitCode, stdout, stderr } = await matterctl(['queue', command], { env: away });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe(
      'matterctl: REDIS_URL cannot be used: no answer within 5000 ms: connect ECONNREFUSED 127.0.0.1:1\n',
    );
  },
);
