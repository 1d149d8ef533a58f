/** Which partition jobs count as stuck: what two looks saw standing still. */

import { findStuck } from '../../../src/queue/inspect/stuck';
import type { PartitionJobView, PartitionView } from '../../../src/queue/inspect/view';

const aPartition = (over: Partial<PartitionView> = {}): PartitionView => ({
  partition: 2,
  waiting: 3,
  oldestMs: 50,
  oldestId: 'first',
  job: null,
  owner: null,
  fencedOwners: [],
  ...over,
});
const aJob = (over: Partial<PartitionJobView> = {}): PartitionJobView => ({
  state: 'active',
  jobId: '7',
  forMs: 10,
  starts: 1,
  reclaimed: 0,
  isPaused: false,
  isLocked: true,
  ...over,
});
const waits = aJob({ state: 'waiting', isLocked: false });
const silent = aJob({ isLocked: false });
const busy = aPartition({ partition: 1, job: aJob({ jobId: '1' }) });
const empty = { waiting: 0, oldestMs: null, oldestId: null };

/** What is found where the looks see this, one after the other, and how many there were. */
async function found(...looks: (readonly PartitionView[])[]) {
  let count = 0;
  const look = async () => looks[Math.min(count++, looks.length - 1)] ?? [];
  const { stuck } = await findStuck(look, 1);
  return { stuck, looks: count };
}

const none = (looks: number) => ({ stuck: [], looks });
const stuck = (why: string) => ({ stuck: [{ partition: 2, why }], looks: 2 });

test.each([
  ['pushes without a job', [aPartition()], 'NO_JOB'],
  ['a partition job that nobody takes', [aPartition({ job: waits })], 'NOT_TAKEN'],
  [
    'a partition job in a paused queue',
    [aPartition({ job: { ...waits, isPaused: true } }), busy],
    'PAUSED',
  ],
  ['a partition job whose worker is silent', [aPartition({ job: silent })], 'LOCK_GONE'],
  ['the same of an empty partition', [aPartition({ job: silent, ...empty })], 'LOCK_GONE'],
])('%s, seen twice, is stuck', async (_, partitions, why) => {
  expect(await found(partitions, partitions)).toEqual(stuck(why));
});

test.each([
  ['an empty partition', [aPartition(empty)]],
  ['a partition job that is under way', [aPartition({ job: aJob() })]],
  [
    'a partition job that waits while another partition has one',
    [aPartition({ job: waits }), busy],
  ],
])('%s is not, and is looked at once', async (_, partitions) => {
  expect(await found(partitions)).toEqual(none(1));
});

test.each([
  ['another push is the first', aPartition({ oldestId: 'second' })],
  ['it got a partition job', aPartition({ job: aJob() })],
  ['its pushes are gone', aPartition(empty)],
])('a partition without a job is not where a moment later %s', async (_, later) => {
  expect(await found([aPartition()], [later])).toEqual(none(2));
});

test.each([
  ['it is another partition job', aPartition({ job: { ...waits, jobId: '8' } })],
  ['it was taken', aPartition({ job: aJob() })],
])('a partition job that nobody took is not where a moment later %s', async (_, later) => {
  expect(await found([aPartition({ job: waits })], [later])).toEqual(none(2));
});

test('a silent worker whose partition moves all the same is not stuck', async () => {
  const moved = aPartition({ job: silent, oldestId: 'second' });
  expect(await found([aPartition({ job: silent })], [moved])).toEqual(none(2));
});

test('what is told is how the partitions were last', async () => {
  const looks = [[aPartition()], [aPartition({ waiting: 9 })]];
  const { partitions } = await findStuck(async () => looks.shift() ?? [], 1);
  expect(partitions).toEqual([aPartition({ waiting: 9 })]);
});
