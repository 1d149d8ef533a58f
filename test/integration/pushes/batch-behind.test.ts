/**
 * A line of a batch takes no effect where an earlier line of its matter took none for want of a server or of
 * time; it does where that one failed by its own fault. By the worker's own code on a real database.
 */
import { Types } from 'mongoose';
import type { WaitingPush } from '../../../src/queue/records';
import { matterModel } from '../../../src/storage/ledger/matters';
import { createFinalize, type Settlement } from '../../../src/storage/push-log';
import { entryModel } from '../../../src/storage/push-log/entry';
import { createLogLookups } from '../../../src/storage/push-log/lookups';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert } from '../../support/builders';

let rig: BatchRig;
beforeAll(async () => {
  rig = await createBatchRig();
});
afterAll(() => rig.close());

/** Lines of one matter, each behind the one before it. */
async function linesOf(externalId: string, titles: readonly string[]): Promise<WaitingPush[]> {
  const lines: WaitingPush[] = [];
  for (const title of titles) {
    const previous = lines.at(-1)?.id;
    lines.push(await rig.queued(externalId, anUpsert({ title }), previous ? { previous } : {}));
  }
  return lines;
}
/** As a web process does that cannot queue a line, or waits no longer. */
async function finalized({ id }: WaitingPush, settlement: Settlement): Promise<void> {
  const finalize = createFinalize(rig.pushLog, createLogLookups(rig.db));
  const [final] = await finalize([{ id, settlement }], { now: Date.now(), worker: 'web' });
  expect(final).toEqual(settlement);
}
const apply = async (pushes: readonly WaitingPush[], worker = rig.newWorker()) => {
  const replies = new Map((await worker(batchOf(pushes))).map((one) => [one.id, one.settlement]));
  return pushes.map(({ id }) => {
    const settlement = replies.get(id);
    if (settlement?.state === 'REFUSED') return settlement.reason;
    return settlement && 'outcome' in settlement ? settlement.outcome : settlement?.state;
  });
};
const titleOf = async (externalId: string) =>
  (await matterModel(rig.db).findOne({ externalId }).lean())?.title;
const reasonsOf = async (pushes: readonly WaitingPush[]) => {
  const ids = pushes.map(({ id }) => new Types.ObjectId(id));
  const entries = await entryModel(rig.db)
    .find({ _id: { $in: ids } })
    .sort({ _id: 1 })
    .lean();
  return entries.map(({ result }) => result);
};

const SKIPPED = 'SKIPPED_AFTER_FAILURE';
const WANTS: Settlement[] = [
  { state: 'EXPIRED' },
  { state: 'REFUSED', reason: 'QUEUE_UNAVAILABLE' },
  { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' },
  { state: 'REFUSED', reason: 'PARTITION_FULL' },
  { state: 'REFUSED', reason: SKIPPED },
];

describe.each(WANTS)('behind a line that its web process settled: %j', (settlement) => {
  const name = `W-${WANTS.indexOf(settlement)}`;

  test('where both are read together, all lines behind it are skipped', async () => {
    const lines = await linesOf(`${name}-1`, ['a', 'b', 'c']);
    const [first, ...behind] = lines;
    const other = await rig.queued(`${name}-2`, anUpsert({ title: 'other' }));
    await finalized(first as WaitingPush, settlement);
    const [, ...ends] = await apply([...lines, other]);
    expect(ends).toEqual([SKIPPED, SKIPPED, 'CREATED']);
    expect(await reasonsOf(behind)).toEqual([SKIPPED, SKIPPED]);
    expect(await titleOf(`${name}-1`)).toBeUndefined();
  });

  test('where it was never in the partition, too', async () => {
    const [first, ...behind] = await linesOf(`${name}-3`, ['a', 'b', 'c']);
    await finalized(first as WaitingPush, settlement);
    expect(await apply(behind)).toEqual([SKIPPED, SKIPPED]);
    expect(await titleOf(`${name}-3`)).toBeUndefined();
  });

  test('where that happens while a worker applies them', async () => {
    const lines = await linesOf(`${name}-4`, ['a', 'b', 'c']);
    const worker = rig.newWorker(() => finalized(lines[0] as WaitingPush, settlement));
    const [, ...ends] = await apply(lines, worker);
    expect(ends).toEqual([SKIPPED, SKIPPED]);
    expect(await titleOf(`${name}-4`)).toBeUndefined();
  });

  test('a push behind them that is none of the batch takes effect', async () => {
    const [first, ...behind] = await linesOf(`${name}-5`, ['a', 'b']);
    await finalized(first as WaitingPush, settlement);
    const single = await rig.queued(`${name}-5`, anUpsert({ title: 'single' }));
    expect(await apply([...behind, single])).toEqual([SKIPPED, 'CREATED']);
    expect(await titleOf(`${name}-5`)).toBe('single');
  });
});

test('a line in the middle that was never queued: those before it take effect', async () => {
  const [a, b, c] = (await linesOf('M-1', ['a', 'b', 'c'])) as [
    WaitingPush,
    WaitingPush,
    WaitingPush,
  ];
  await finalized(b, { state: 'REFUSED', reason: 'PARTITION_FULL' });
  expect(await apply([a, c])).toEqual(['CREATED', SKIPPED]);
  expect(await titleOf('M-1')).toBe('a');
});

test('behind a line that took effect in an earlier batch of the worker the others do', async () => {
  const [first, ...behind] = await linesOf('E-1', ['a', 'b', 'c']);
  expect(await apply([first as WaitingPush])).toEqual(['CREATED']);
  expect(await apply(behind)).toEqual(['UPDATED', 'UPDATED']);
  expect(await titleOf('E-1')).toBe('c');
});

test('behind a line that is in no partition and has no final state: it gets one, and takes no effect any more', async () => {
  const [first, ...behind] = (await linesOf('O-1', ['a', 'b', 'c'])) as [
    WaitingPush,
    ...WaitingPush[],
  ];
  expect(await apply(behind)).toEqual([SKIPPED, SKIPPED]);
  expect(await reasonsOf([first])).toEqual(['QUEUE_UNAVAILABLE']);
  expect(await apply([first])).toEqual(['QUEUE_UNAVAILABLE']);
  expect(await titleOf('O-1')).toBeUndefined();
});

test('behind a line that another worker commits just then, after it was looked up, they take effect', async () => {
  const [first, ...behind] = (await linesOf('O-2', ['a', 'b'])) as [WaitingPush, ...WaitingPush[]];
  const other = rig.newWorker();
  const worker = rig.newWorker(undefined, {
    afterLookup: async () => void (await apply([first], other)),
  });
  expect(await apply(behind, worker)).toEqual(['UPDATED']);
  expect(await titleOf('O-2')).toBe('b');
});

/** Holds the entry of a push as a worker does that is applying it, until the transaction ends. */
async function lockEntry({ id }: WaitingPush) {
  const session = await rig.db.startSession();
  session.startTransaction();
  const entry = { _id: new Types.ObjectId(id) };
  const set = { state: 'PERSISTED', result: 'CREATED' };
  await entryModel(rig.db).updateOne(entry, { $set: set }, { session });
  return session;
}

test('behind a line that an open transaction locks, they get a final state that is not a skip, and take no effect', async () => {
  const [first, ...behind] = (await linesOf('O-3', ['a', 'b', 'c'])) as [
    WaitingPush,
    ...WaitingPush[],
  ];
  const single = await rig.queued('O-4', anUpsert({ title: 'single' }));
  const session = await lockEntry(first);
  try {
    const unavailable = Array(2).fill('DATABASE_UNAVAILABLE');
    expect(await apply([...behind, single])).toEqual([...unavailable, 'CREATED']);
    expect(await titleOf('O-3')).toBeUndefined();
    expect(await reasonsOf(behind)).toEqual(unavailable);
  } finally {
    await session.abortTransaction();
    await session.endSession();
  }
});

test('behind a line whose open transaction commits after the worker has looked up its state, they take effect', async () => {
  const [first, ...behind] = (await linesOf('O-5', ['a', 'b', 'c'])) as [
    WaitingPush,
    ...WaitingPush[],
  ];
  const session = await lockEntry(first);
  let isLookedUp = () => {};
  const lookedUp = new Promise<void>((resolve) => {
    isLookedUp = resolve;
  });
  const worker = rig.newWorker(undefined, { afterLookup: async () => isLookedUp() });
  const applied = apply(behind, worker);
  await lookedUp;
  await session.commitTransaction();
  await session.endSession();
  expect(await applied).toEqual(['CREATED', 'UPDATED']);
  expect(await titleOf('O-5')).toBe('c');
});

test.each([true, false])(
  'behind a line that failed by its own fault (read together: %s) the others take effect',
  async (isTogether) => {
    const key = `F-${isTogether}`;
    const missing = await rig.queued(key, {
      op: 'status',
      bizStatus: 'DONE',
      resetAssigneeUnread: false,
    });
    const behind = await rig.queued(key, anUpsert({ title: 'behind' }), { previous: missing.id });
    const ends = isTogether
      ? await apply([missing, behind])
      : [...(await apply([missing])), ...(await apply([behind]))];
    expect(ends).toEqual(['MATTER_NOT_FOUND', 'CREATED']);
  },
);

test('behind a line past its deadline, and behind one whose entry is gone', async () => {
  const deadline = Date.now() - 1;
  const late = await rig.queued('L-1', anUpsert({ title: 'late' }), { deadline });
  const behind = await rig.queued('L-1', anUpsert({ title: 'behind' }), { previous: late.id });
  expect(await apply([late, behind])).toEqual(['EXPIRED', SKIPPED]);
  const gone = await rig.queued('L-2', anUpsert({ title: 'gone' }));
  const left = await rig.queued('L-2', anUpsert({ title: 'left' }), { previous: gone.id });
  await entryModel(rig.db).deleteOne({ _id: new Types.ObjectId(gone.id) });
  expect(await apply([left])).toEqual([SKIPPED]);
  expect(await matterModel(rig.db).countDocuments({ externalId: /^L-/ })).toBe(0);
});

test('a batch that is read again after a crash gives the same replies', async () => {
  const lines = await linesOf('A-1', ['a', 'b', 'c']);
  const first = await apply(lines);
  expect(first).toEqual(['CREATED', 'UPDATED', 'UPDATED']);
  expect(await apply(lines)).toEqual(first);
  const [failed, ...behind] = await linesOf('A-2', ['a', 'b']);
  await finalized(failed as WaitingPush, { state: 'EXPIRED' });
  expect(await apply(behind)).toEqual([SKIPPED]);
  expect(await apply(behind)).toEqual([SKIPPED]);
});
