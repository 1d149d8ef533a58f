/** The web process's end of the job groups: one append per tick, in the order of acceptance. */
import pino from 'pino';
import type { Partitions } from '../../../src/queue/commands/partitions';
import { createGroupQueue, type GroupQueue } from '../../../src/queue/producer';
import type { TimedPush } from '../../../src/queue/records';
import { aPush } from '../../support/builders';

/** Milliseconds: a busy machine may take a second for an append. */
const TIMEOUT = 60_000;
const logger = pino({ level: 'silent' });
const enqueueOne = async (queue: GroupQueue, id: string) =>
  (await queue.enqueue([aPush({ id })], TIMEOUT))[0];

function setUp(more: { schedule?: () => Promise<void>; shards?: number } = {}) {
  const { shards = 1 } = more;
  const appended: TimedPush[][] = [];
  const appendedTo: number[] = [];
  const woken: number[][] = [];
  const partitions: Pick<Partitions, 'append'> = {
    append: async (shard, pushes) => {
      appendedTo.push(shard);
      appended.push([...pushes]);
      const how = ({ push: { id } }: TimedPush) => (id === 'full' ? 'PARTITION_FULL' : 'APPENDED');
      return { appended: pushes.map(how), toSchedule: [3] };
    },
  };
  const schedule = async (numbers: readonly number[]) => {
    woken.push([...numbers]);
    await more.schedule?.();
  };
  const queue = createGroupQueue({
    partitions,
    jobs: { schedule },
    layout: { shards, partitions: 4 },
    logger,
  });
  return { queue, appended, appendedTo, woken };
}

test('pushes of one tick are appended together, in the order in which they were accepted', async () => {
  const { queue, appended, woken } = setUp();
  const ids = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(ids.map((id) => enqueueOne(queue, id)));
  expect(appended.map((batch) => batch.map((item) => item.push.id))).toEqual([ids]);
  expect(woken).toEqual([[3]]);
});

test('a batch of 1,000 pushes is one append of each shard, each matter in its order', async () => {
  const { queue, appended, appendedTo } = setUp({ shards: 3 });
  const pushes = Array.from({ length: 1_000 }, (_, n) => ({
    ...aPush({ id: String(n), externalId: `E-${n % 50}` }),
  }));
  const answers = await queue.enqueue(pushes, TIMEOUT);
  expect(answers).toEqual(Array(1_000).fill('APPENDED'));
  expect(appendedTo.sort()).toEqual([0, 1, 2]);
  expect(appended.flat()).toHaveLength(1_000);
  for (const batch of appended) {
    const numbers = batch.map((item) => Number(item.push.id));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  }
});

test('an append has 4 MiB at most, or one push or batch that is larger', async () => {
  const { queue, appended } = setUp();
  const large = (id: string, size: number) => aPush({ id, bodyHash: '大'.repeat(size / 3) });
  const MiB = 1024 * 1024;
  const sizes = [1, 1, 1, 1, 3, 6, 1].map((size, n) => [large(String(n), size * MiB)]);
  const batch = ['a', 'b', 'c'].map((id) => large(id, 2 * MiB));
  await Promise.all([...sizes, batch].map((group) => queue.enqueue(group, TIMEOUT)));
  const ids = appended.map((pushes) => pushes.map((item) => item.push.id).join(''));
  expect(ids).toEqual(['012', '3', '4', '5', '6', 'abc']);
});

test('each push is told whether its partition took it', async () => {
  const { queue } = setUp();
  const answers = ['a', 'full', 'b'].map((id) => enqueueOne(queue, id));
  expect(await Promise.all(answers)).toEqual(['APPENDED', 'PARTITION_FULL', 'APPENDED']);
});

test('a job that cannot be scheduled is no failed push: it is in its partition, and the sweep comes', async () => {
  const { queue } = setUp({ schedule: () => Promise.reject(new Error('Redis is away')) });
  expect(await enqueueOne(queue, 'a')).toBe('APPENDED');
});

test('time spent waiting for an append counts against the deadline', async () => {
  const { queue, appended } = setUp();
  await enqueueOne(queue, 'a');
  expect(appended[0]?.[0]?.timeout).toBeLessThan(TIMEOUT);
});
