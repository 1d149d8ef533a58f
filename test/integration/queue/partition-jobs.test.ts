/**
 * Partition jobs without the sweep: the job groups alone must leave no push behind in its partition, and
 * several workers share the partitions.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pino from 'pino';
import { NO_METRICS } from '../../../src/observability/metrics';
import { startSweep } from '../../../src/queue/balance';
import type { Partitions } from '../../../src/queue/commands/partitions';
import { GroupWorker } from '../../../src/queue/consumer';
import { createPartitionJobs, type PartitionJobs } from '../../../src/queue/jobs';
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';
import { aPush } from '../../support/builders';
import { holdDeadlines } from '../../support/deadlines';
import {
  openPartitions,
  ownerCalled,
  PARTITIONS,
  partitionOfKey,
  take,
} from '../../support/partitions';
import { testServers } from '../../support/service';
import { whileClockStands } from '../../support/still-clock';
import { until } from '../../support/wait';

const logger = pino({ level: 'silent' });
let redis: Redis;
let blocking: Redis;
let partitions: Partitions;
let jobs: PartitionJobs;
const workers: GroupWorker[] = [];
const subscribers: Redis[] = [];
const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
beforeAll(() => {
  const { redisUrl } = testServers();
  redis = new Redis(redisUrl);
  blocking = new Redis(redisUrl, { maxRetriesPerRequest: null });
  partitions = openPartitions(redis, keys, { pushes: 100, bytes: 2 ** 20 });
  jobs = createPartitionJobs(redis, keys);
});
const clear = async () => {
  const left = await redis.keys(`${keys.bullPrefix(0)}*`);
  if (left.length > 0) await redis.del(left);
};
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  for (const one of subscribers.splice(0)) one.disconnect();
  await clear();
});
afterAll(async () => {
  await jobs.close();
  await clear();
  redis.disconnect();
  blocking.disconnect();
});

async function append(externalId: string): Promise<readonly number[]> {
  const push = aPush({ id: randomBytes(12).toString('hex'), systemCode: 'S', externalId });
  return (await partitions.append(0, [{ push, timeout: 60_000 }])).toSchedule;
}

/** What a web process does. */
const send = async (externalId: string) => jobs.schedule(await append(externalId));
const partitionOf = (externalId: string) => partitionOfKey('S', externalId);

/** Batches that were given up. */
let givenUp = 0;

interface More {
  readonly id?: string;
  readonly partitions?: Partitions;
  readonly apply?: (pushes: number, inPartitions: number) => Promise<void>;
  readonly processingTimeout?: number;
}

/** A worker that writes down what it applies. */
function start(more: More = {}): string[] {
  const applied: string[] = [];
  const { id = `w${workers.length}` } = more;
  const subscriber = new Redis(testServers().redisUrl);
  subscribers.push(subscriber);
  workers.push(
    new GroupWorker({
      connection: blocking,
      subscriber,
      keys,
      id,
      partitions: more.partitions ?? partitions,
      jobs,
      owner: () => ownerCalled(id),
      sessionOf: (index) => `session-${index}`,
      batchLimit: 640,
      onAbandoned: () => {
        givenUp += 1;
      },
      // A slow machine gives up no batch that a test holds.
      processingTimeout: more.processingTimeout ?? 120_000,
      logger,
      processBatch: async ({ records }) => {
        const pushes = records.flatMap((one) => one.pushes);
        await more.apply?.(pushes.length, records.filter((one) => one.pushes.length > 0).length);
        applied.push(...pushes.map(({ externalId }) => externalId));
        return [];
      },
    }),
  );
  return applied;
}

const active = `${keys.bullPrefix(0)}:${PARTITION_JOB_QUEUE}:active`;

test('a partition is held while it has traffic: its worker is rung, no further job is added', async () => {
  const applied = start();
  // A machine that stalls for longer than a partition may be idle has no traffic.
  await whileClockStands(async () => {
    await send('K');
    await until('the first push', async () => applied.length === 1);
    const jobsBefore = await redis.get(`${keys.bullPrefix(0)}:${PARTITION_JOB_QUEUE}:id`);
    for (let n = 2; n <= 20; n += 1) {
      expect(await append('K')).toEqual([]);
      await until('the push', async () => applied.length === n);
    }
    expect(await redis.get(`${keys.bullPrefix(0)}:${PARTITION_JOB_QUEUE}:id`)).toBe(jobsBefore);
    await until('its batch to end', async () => workers[0]?.load().batches === 0);
    expect(workers[0]?.load()).toEqual({ batches: 0, pushes: 0, partitions: 1 });
  });
});

test('a partition without traffic is let go, and taken again with the next push', async () => {
  const applied = start();
  await send('K');
  // Before, no job may be active yet.
  await until('the first push', async () => applied.length === 1);
  await until('it to be let go', async () => (await redis.llen(active)) === 0);
  expect(await redis.exists(keys.owners(0))).toBe(0);
  await until('its worker to release it', async () => workers[0]?.load().partitions === 0);
  await send('K');
  await until('both pushes', async () => applied.length === 2);
});

test('a push that comes between the last look of a batch and its end is applied', async () => {
  let late = false;
  const replyAndRemove: Partitions['replyAndRemove'] = async (...args) => {
    const left = await partitions.replyAndRemove(...args);
    // The partition was seen empty, and its worker is about to wait for a ring.
    if (!late) {
      late = true;
      await send('K');
      await sleep(50);
    }
    return left;
  };
  const applied = start({ partitions: { ...partitions, replyAndRemove } });
  await send('K');
  await until('both pushes', async () => applied.length === 2);
});

test('a partition that is scheduled often has one job, and what came meanwhile is applied in its order', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const applied = start({ apply: () => held });
  const sent = Array.from({ length: 99 }, (_, n) => `M-${n}`);
  const partition = partitionOf('M-0');
  const mine = sent.filter((externalId) => partitionOf(externalId) === partition);
  expect(mine.length).toBeGreaterThan(2);
  for (const externalId of mine) {
    await append(externalId);
    await jobs.schedule([partition]);
  }
  release();
  await until('all of them', async () => applied.length === mine.length);
  expect(applied).toEqual(mine);
});

describe('what waits in the partitions of a worker', () => {
  const sent = Array.from({ length: 400 }, (_, n) => `T-${n}`);
  const first = Array.from({ length: PARTITIONS }, (_, number) =>
    String(sent.find((one) => partitionOf(one) === number)),
  );
  const rest = sent.filter((one) => !first.includes(one));
  const appendRest = async () => {
    // A slow machine may have released an idle partition, which then needs a job.
    for (const one of rest.slice(1)) await send(one);
  };

  /**
   * @param wait until a batch is over, once all partitions are held
   * @param sendRest sends the rest; the first batch is under way then
   * @returns how many partitions each batch had that began after that one
   */
  async function applyAll(
    wait: () => Promise<void>,
    sendRest: () => Promise<void>,
  ): Promise<number[]> {
    const inPartitions: number[] = [];
    let pause = async () => {};
    const applied = start({
      apply: async (_pushes, partitionsOf) => {
        inPartitions.push(partitionsOf);
        await pause();
      },
    });
    for (const one of first) await send(one);
    await until('all partitions to be held', async () => applied.length === PARTITIONS);
    pause = wait;
    inPartitions.length = 0;
    await send(String(rest[0]));
    await until('a batch', async () => inPartitions.length > 0);
    inPartitions.length = 0;
    await sendRest();
    await until('all of them', async () => applied.length === sent.length);
    for (let number = 0; number < PARTITIONS; number += 1) {
      const ofPartition = rest.filter((one) => partitionOf(one) === number);
      expect(applied.filter((one) => partitionOf(one) === number)).toEqual([
        String(first[number]),
        ...ofPartition,
      ]);
    }
    return inPartitions;
  }

  test('is applied together, each partition in its order', async () => {
    let release = () => {};
    const appended = new Promise<void>((resolve) => {
      release = resolve;
    });
    const inPartitions = await applyAll(
      () => appended,
      async () => {
        await appendRest();
        release();
      },
    );
    expect(Math.max(...inPartitions)).toBeGreaterThan(PARTITIONS / 4);
  });

  test('goes half and half where batches are slow, so that two are under way', async () => {
    const inPartitions = await applyAll(() => sleep(300), appendRest);
    // What came with the first slow one was not known to be slow.
    expect(Math.max(...inPartitions.slice(2))).toBeLessThanOrEqual(PARTITIONS / 2);
  });
});

test('a partition job that failed leaves its pushes in the partition, and the next job applies them', async () => {
  let fail = true;
  const applied = start({
    apply: async () => {
      if (fail) throw new Error('the database is away');
    },
  });
  await send('F');
  await until('its job to have failed', async () => {
    return (await redis.llen(active)) === 0 && (await redis.exists(keys.owners(0))) === 1;
  });
  fail = false;
  await until('the push', async () => {
    workers[0]?.notify(await partitions.findDue(0, 'w0'));
    return applied.includes('F');
  });
});

test('a partition whose batch failed is nobody’s once its worker has stopped, and its next one is told whose it was', async () => {
  start({ id: 'failed', apply: () => Promise.reject(new Error('no database')) });
  await send('K');
  const partition = partitionOf('K');
  const owner = () => redis.hget(keys.owners(0), String(partition));
  await until('its worker to have failed', async () => {
    return (await owner()) !== null && workers[0]?.load().partitions === 0;
  });
  await workers[0]?.close();
  expect(await append('K')).toEqual([]);
  expect(await partitions.findDue(0, 'other')).toEqual([partition]);
  const { fencedOwners, records } = await take(partitions, [partition], 'other');
  expect(fencedOwners).toEqual([ownerCalled('failed')]);
  expect(records[0]?.pushes).toHaveLength(2);
});

test('a partition whose batch failed is nobody’s once nothing waits in it', async () => {
  start({ id: 'failed', apply: () => Promise.reject(new Error('no database')) });
  await send('K');
  await until('its worker to have failed', async () => {
    const owners = await redis.exists(keys.owners(0));
    return owners === 1 && workers[0]?.load().partitions === 0;
  });
  await redis.del(keys.partition(partitionOf('K')));
  await until('it to be let go of', async () => (await redis.exists(keys.owners(0))) === 0);
});

test('what a worker left that lives no more is taken and let go of, though nothing waits in it', async () => {
  start();
  const partition = partitionOf('K');
  await take(partitions, [partition], 'dead');
  const sweep = startSweep({
    partitions,
    worker: workers[0] as GroupWorker,
    shards: 1,
    id: 'w0',
    alive: () => ['w0'],
    logger,
    metrics: NO_METRICS,
  });
  try {
    await until('it to be taken', async () => workers[0]?.load().partitions === 1);
    await until('it to be let go of', async () => (await redis.exists(keys.owners(0))) === 0);
  } finally {
    await sweep.stop();
  }
});

test('a partition job that never ends is given up, and its partition goes on', async () => {
  let hangs = true;
  const before = givenUp;
  const applied = start({
    processingTimeout: 1_000,
    apply: async () => {
      if (!hangs) return;
      hangs = false;
      await new Promise(() => undefined);
    },
  });
  await send('HUNG');
  await until('the batch to be given up', async () => givenUp > before);
  await until('its push', async () => {
    await jobs.schedule([partitionOf('HUNG')]);
    return applied.includes('HUNG');
  });
});

test('a batch that is too much for a slow database is tried with fewer pushes, until it gets done', async () => {
  const took: number[] = [];
  for (let n = 0; n < 10; n += 1) await append('SLOW');
  // It never ends by itself: a batch that gets done is given up on no slow machine.
  const processingTimeout = 7_654_321;
  const endDeadlines = holdDeadlines(processingTimeout);
  let release = () => {};
  const tooMuch = new Promise<void>((resolve) => {
    release = resolve;
  });
  const applied = start({
    processingTimeout,
    apply: async (pushes) => {
      took.push(pushes);
      if (pushes <= 3) return;
      setImmediate(endDeadlines);
      await tooMuch;
    },
  });
  await until('all pushes', async () => {
    await jobs.schedule([partitionOf('SLOW')]);
    return applied.filter((one) => one === 'SLOW').length === 10;
  });
  // Halved until it goes, and more again once it does.
  expect(took.slice(0, 4)).toEqual([10, 5, 2, 4]);
  release();
});

describe('two workers', () => {
  const some = Array.from({ length: 200 }, (_, n) => `S-${n}`);
  // The clock stands still, so no worker releases a partition that is idle because the machine is slow. jest restores it.
  beforeEach(() => {
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
  });

  test('what one lets go of is held by the other one, and nothing is lost or out of its order', async () => {
    const first = start();
    for (const one of some) await send(one);
    await until('all to be held', async () => workers[0]?.load().partitions === PARTITIONS);
    const second = start();
    workers[0]?.adjustShare(PARTITIONS / 2, PARTITIONS / 2);
    for (const one of some) await send(one);
    await until('the other one to have its share', async () => {
      return (workers[1]?.load().partitions ?? 0) >= PARTITIONS / 2 - 2;
    });
    for (const one of some) await send(one);
    await until('all pushes', async () => first.length + second.length === 3 * some.length);
    // One more than its share may come to whoever was waiting for a job already.
    expect(workers[0]?.load().partitions).toBeLessThanOrEqual(PARTITIONS / 2 + 2);
    expect(second.length).toBeGreaterThan(0);
  });

  test('a worker that stops leaves everything to the other one at once', async () => {
    const first = start();
    for (const one of some) await send(one);
    await until('all to be held', async () => workers[0]?.load().partitions === PARTITIONS);
    const second = start();
    const closing = workers[0]?.close();
    for (const one of some) await send(one);
    await closing;
    await until('all pushes', async () => first.length + second.length === 2 * some.length);
  });
});
