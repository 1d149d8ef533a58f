/**
 * Partition jobs without the sweep: the job groups alone must leave no push behind in its partition.
 */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { groupOf, PARTITIONS, partitionOf } from '../../src/domain/group';
import { GroupWorker } from '../../src/queue/group-worker';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../src/queue/keys';
import { createPartitionJobs, type PartitionJobs } from '../../src/queue/partition-jobs';
import type { Partitions } from '../../src/queue/partitions';
import { openPartitions } from '../support/partitions';
import { testServers } from '../support/service';
import { until } from '../support/wait';

const logger = pino({ level: 'silent' });
let redis: Redis;
let blocking: Redis;
let partitions: Partitions;
let jobs: PartitionJobs;
let worker: GroupWorker | undefined;
const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
beforeAll(() => {
  const { redisUrl } = testServers();
  redis = new Redis(redisUrl);
  blocking = new Redis(redisUrl, { maxRetriesPerRequest: null });
  partitions = openPartitions(redis, keys, { pushes: 100, bytes: 2 ** 20 });
  jobs = createPartitionJobs(redis, keys);
});
afterEach(() => worker?.close());
afterAll(async () => {
  await jobs.close();
  const left = await redis.keys(`${keys.bullPrefix}*`);
  if (left.length > 0) await redis.del(left);
  redis.disconnect();
  blocking.disconnect();
});

async function append(externalId: string): Promise<number[]> {
  const push = {
    id: randomBytes(12).toString('hex'),
    clientId: 'tester',
    systemCode: 'S',
    externalId,
    operation: { op: 'delete' } as const,
    replyTo: 'ingress',
    bodyHash: '',
  };
  return (await partitions.append([{ push, timeout: 60_000 }])).toSchedule;
}

/** Batches that were given up. */
let givenUp = 0;

interface More {
  readonly partitions?: Partitions;
  readonly apply?: (pushes: number, inPartitions: number) => Promise<void>;
  readonly processingTimeout?: number;
}

/** A worker that writes down what it applies. */
function start(more: More = {}): string[] {
  const applied: string[] = [];
  worker = new GroupWorker({
    connection: blocking,
    keys,
    partitions: more.partitions ?? partitions,
    jobs,
    ownerOf: (index) => `owner-${index}`,
    onTimeout: () => {
      givenUp += 1;
    },
    concurrency: 4,
    ...(more.processingTimeout !== undefined && { processingTimeout: more.processingTimeout }),
    logger,
    processBatch: async ({ records }) => {
      const pushes = records.flatMap(({ pushes }) => pushes);
      await more.apply?.(pushes.length, records.filter((one) => one.pushes.length > 0).length);
      applied.push(...pushes.map(({ externalId }) => externalId));
      return [];
    },
  });
  return applied;
}

test('a push that comes between the last look of a partition job and its end gets one of its own', async () => {
  let late = false;
  const acknowledge: Partitions['acknowledge'] = async (batch, replies) => {
    const left = await partitions.acknowledge(batch, replies);
    // The partition job has seen its partition empty and is about to end; its job is still active.
    if (!late) {
      late = true;
      await jobs.schedule(await append('K'));
    }
    return left;
  };
  const applied = start({ partitions: { ...partitions, acknowledge } });
  await jobs.schedule(await append('K'));
  await until('both pushes', async () => applied.length === 2);
});

test('a partition that is scheduled often has one job, and what came meanwhile is applied in its order', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const applied = start({ apply: () => held });
  const sent = Array.from({ length: 12 }, (_, n) => `M-${n}`);
  const partition = partitionOf(groupOf('S', 'M-0'));
  const mine = sent.filter((externalId) => partitionOf(groupOf('S', externalId)) === partition);
  for (const externalId of mine) {
    await append(externalId);
    await jobs.schedule([partition]);
  }
  release();
  await until('all of them', async () => applied.length === mine.length);
  expect(applied).toEqual(mine);
});

test('what waits in several partitions is applied together, each partition in its order', async () => {
  const partitionsOf: number[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const applied = start({
    apply: async (_pushes, inPartitions) => {
      partitionsOf.push(inPartitions);
      await held;
    },
  });
  const sent = Array.from({ length: 40 }, (_, n) => `T-${n}`);
  const ofPartition = (partition: number) =>
    sent.filter((one) => partitionOf(groupOf('S', one)) === partition);
  const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  // Two batches are under way, a partition each, before there is more.
  for (const partition of [0, 1]) {
    await jobs.schedule(await append(String(ofPartition(partition)[0])));
    await until('its batch', async () => partitionsOf.length === partition + 1);
  }
  const rest = sent.filter((one) => one !== ofPartition(0)[0] && one !== ofPartition(1)[0]);
  for (const one of rest) await jobs.schedule(await append(one));
  const active = `${keys.bullPrefix}:${PARTITION_JOB_QUEUE}:active`;
  await until(
    'a partition job of each partition',
    async () => (await redis.llen(active)) === PARTITIONS,
  );
  release();
  await until('all of them', async () => applied.length === sent.length);
  for (const partition of all) {
    expect(applied.filter((one) => partitionOf(groupOf('S', one)) === partition)).toEqual(
      ofPartition(partition),
    );
  }
  expect(partitionsOf.slice(0, 2)).toEqual([1, 1]);
  // All of them in one would stay together as long as they are full, and one batch would be alone.
  expect(Math.max(...partitionsOf)).toBe(PARTITIONS / 2);
});

test('a partition job that failed leaves its pushes in the partition, and the next job applies them', async () => {
  let fail = true;
  const applied = start({
    apply: async () => {
      if (fail) throw new Error('the database is away');
    },
  });
  const toSchedule = await append('F');
  await jobs.schedule(toSchedule);
  await until('the partition job to fail', async () => (await redis.exists(keys.owners)) === 1);
  fail = false;
  await until('the push', async () => {
    await jobs.schedule(await partitions.waiting());
    return applied.includes('F');
  });
});

test('a partition job that never ends is given up, and its partition goes on', async () => {
  let hangs = true;
  const applied = start({
    apply: async () => {
      if (!hangs) return;
      hangs = false;
      await new Promise(() => undefined);
    },
  });
  await jobs.schedule(await append('HUNG'));
  const partition = partitionOf(groupOf('S', 'HUNG'));
  await until('the batch to be given up', async () => givenUp === 1, 20_000);
  await until('its push', async () => {
    await jobs.schedule([partition]);
    return applied.includes('HUNG');
  });
}, 40_000);

test('a batch that is too much for a slow database is tried with fewer pushes, until it gets done', async () => {
  const took: number[] = [];
  for (let n = 0; n < 10; n += 1) await append('SLOW');
  const applied = start({
    processingTimeout: 300,
    apply: async (pushes) => {
      took.push(pushes);
      if (pushes > 3) await new Promise(() => undefined);
    },
  });
  const partition = partitionOf(groupOf('S', 'SLOW'));
  await until('all pushes', async () => {
    await jobs.schedule([partition]);
    return applied.filter((one) => one === 'SLOW').length === 10;
  });
  // Halved until it goes, and more again once it does.
  expect(took.slice(0, 4)).toEqual([10, 5, 2, 4]);
}, 40_000);
