/** Which turns count as stuck: what two looks saw standing still. */
import { lookForStuck } from '../../src/queue/stuck';
import type { TurnView } from '../../src/queue/turn-view';
import type { PartitionView } from '../../src/queue/view';

const aPartition = (over: Partial<PartitionView> = {}): PartitionView => ({
  partition: 2,
  waiting: 3,
  oldestMs: 50,
  oldestId: 'first',
  turn: null,
  holder: null,
  displaced: [],
  ...over,
});
const aTurn = (over: Partial<TurnView> = {}): TurnView => ({
  state: 'active',
  jobId: '7',
  forMs: 10,
  starts: 1,
  takenOver: 0,
  isLocked: true,
  ...over,
});
const waits = aTurn({ state: 'waiting', isLocked: false });
const silent = aTurn({ isLocked: false });
const busy = aPartition({ partition: 1, turn: aTurn({ jobId: '1' }) });
const empty = { waiting: 0, oldestMs: null, oldestId: null };

/** What is found where the looks see this, one after the other, and how many there were. */
async function found(...looks: (readonly PartitionView[])[]) {
  let count = 0;
  const look = async () => looks[Math.min(count++, looks.length - 1)] ?? [];
  const { stuck } = await lookForStuck(look, 1);
  return { stuck, looks: count };
}

const none = (looks: number) => ({ stuck: [], looks });
const stuck = (why: string) => ({ stuck: [{ partition: 2, why }], looks: 2 });

test.each([
  ['pushes without a turn', [aPartition()], 'NO_TURN'],
  ['a turn that nobody takes', [aPartition({ turn: waits })], 'NOT_TAKEN'],
  ['a turn whose worker is silent', [aPartition({ turn: silent })], 'LOCK_GONE'],
  ['the same of an empty partition', [aPartition({ turn: silent, ...empty })], 'LOCK_GONE'],
])('%s, seen twice, is stuck', async (_, partitions, why) => {
  expect(await found(partitions, partitions)).toEqual(stuck(why));
});

test.each([
  ['an empty partition', [aPartition(empty)]],
  ['a turn that is under way', [aPartition({ turn: aTurn() })]],
  ['a turn that waits while another partition has one', [aPartition({ turn: waits }), busy]],
])('%s is not, and is looked at once', async (_, partitions) => {
  expect(await found(partitions)).toEqual(none(1));
});

test.each([
  ['another push is the first', aPartition({ oldestId: 'second' })],
  ['it got a turn', aPartition({ turn: aTurn() })],
  ['its pushes are gone', aPartition(empty)],
])('a partition without a turn is not where a moment later %s', async (_, later) => {
  expect(await found([aPartition()], [later])).toEqual(none(2));
});

test.each([
  ['it is another turn', aPartition({ turn: { ...waits, jobId: '8' } })],
  ['it was taken', aPartition({ turn: aTurn() })],
])('a turn that nobody took is not where a moment later %s', async (_, later) => {
  expect(await found([aPartition({ turn: waits })], [later])).toEqual(none(2));
});

test('a silent worker whose partition moves all the same is not stuck', async () => {
  const moved = aPartition({ turn: silent, oldestId: 'second' });
  expect(await found([aPartition({ turn: silent })], [moved])).toEqual(none(2));
});

test('what is told is how the partitions were last', async () => {
  const looks = [[aPartition()], [aPartition({ waiting: 9 })]];
  const { partitions } = await lookForStuck(async () => looks.shift() ?? [], 1);
  expect(partitions).toEqual([aPartition({ waiting: 9 })]);
});
