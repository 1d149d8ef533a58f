/** Which turns count as stuck: what two looks saw standing still. */
import { lookForStuck } from '../../src/queue/stuck';
import type { TurnView } from '../../src/queue/turn-view';
import type { LaneView } from '../../src/queue/view';

const aLane = (over: Partial<LaneView> = {}): LaneView => ({
  lane: 2,
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
const busy = aLane({ lane: 1, turn: aTurn({ jobId: '1' }) });
const empty = { waiting: 0, oldestMs: null, oldestId: null };

/** What is found where the looks see this, one after the other, and how many there were. */
async function found(...looks: (readonly LaneView[])[]) {
  let count = 0;
  const look = async () => looks[Math.min(count++, looks.length - 1)] ?? [];
  const { stuck } = await lookForStuck(look, 1);
  return { stuck, looks: count };
}

const none = (looks: number) => ({ stuck: [], looks });
const stuck = (why: string) => ({ stuck: [{ lane: 2, why }], looks: 2 });

test.each([
  ['pushes without a turn', [aLane()], 'NO_TURN'],
  ['a turn that nobody takes', [aLane({ turn: waits })], 'NOT_TAKEN'],
  ['a turn whose worker is silent', [aLane({ turn: silent })], 'LOCK_GONE'],
  ['the same of an empty lane', [aLane({ turn: silent, ...empty })], 'LOCK_GONE'],
])('%s, seen twice, is stuck', async (_, lanes, why) => {
  expect(await found(lanes, lanes)).toEqual(stuck(why));
});

test.each([
  ['an empty lane', [aLane(empty)]],
  ['a turn that is under way', [aLane({ turn: aTurn() })]],
  ['a turn that waits while another lane has one', [aLane({ turn: waits }), busy]],
])('%s is not, and is looked at once', async (_, lanes) => {
  expect(await found(lanes)).toEqual(none(1));
});

test.each([
  ['another push is the first', aLane({ oldestId: 'second' })],
  ['it got a turn', aLane({ turn: aTurn() })],
  ['its pushes are gone', aLane(empty)],
])('a lane without a turn is not where a moment later %s', async (_, later) => {
  expect(await found([aLane()], [later])).toEqual(none(2));
});

test.each([
  ['it is another turn', aLane({ turn: { ...waits, jobId: '8' } })],
  ['it was taken', aLane({ turn: aTurn() })],
])('a turn that nobody took is not where a moment later %s', async (_, later) => {
  expect(await found([aLane({ turn: waits })], [later])).toEqual(none(2));
});

test('a silent worker whose lane moves all the same is not stuck', async () => {
  const moved = aLane({ turn: silent, oldestId: 'second' });
  expect(await found([aLane({ turn: silent })], [moved])).toEqual(none(2));
});

test('what is told is how the lanes were last', async () => {
  const looks = [[aLane()], [aLane({ waiting: 9 })]];
  const { lanes } = await lookForStuck(async () => looks.shift() ?? [], 1);
  expect(lanes).toEqual([aLane({ waiting: 9 })]);
});
