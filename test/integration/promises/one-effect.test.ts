/** Promise 3: a push takes effect at most once, however often it is taken up. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClientSession } from 'mongoose';
import pino from 'pino';
import type { Operation } from '../../../src/domain/operation';
import { ownerText } from '../../../src/queue/records';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { SessionPool } from '../../../src/storage/sessions';
import { type RunningServer, startMongo } from '../../../tools/local/servers';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert, aStatus } from '../../support/builders';
import { whileClockStands } from '../../support/still-clock';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-one-effect-'));
let server: RunningServer;
let rig: BatchRig;
beforeAll(async () => {
  // The server ends no transaction that a test holds, on however slow a machine.
  const parameters = { transactionLifetimeLimitSeconds: 600 };
  server = await startMongo({ dir, parameters });
  rig = await createBatchRig(server.url);
});
afterAll(async () => {
  await rig?.close();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const upsert = (title: string) =>
  anUpsert({ title, parties: [{ username: 'alice', partyRole: 'ASSIGNEE' }] });
const status = (bizStatus: string) => aStatus({ bizStatus });
const stored = (externalId: string) => matterModel(rig.db).findOne({ externalId }).lean();

test('a partition that is read again after a crash gives the same replies and no second effect', async () => {
  const pushes = [
    await rig.queued('AGAIN', upsert('first')),
    await rig.queued('AGAIN', status('DONE')),
    await rig.queued('AGAIN', { op: 'delete' }),
    await rig.queued('AGAIN', upsert('revived')),
    await rig.queued('OTHER', status('DONE')),
  ];
  const first = await rig.newWorker()(batchOf(pushes));
  const before = await stored('AGAIN');
  const second = await rig.newWorker()(batchOf(pushes));
  expect(second).toEqual(first);
  expect(
    first.map(({ settlement }) => ('outcome' in settlement ? settlement.outcome : '')),
  ).toEqual(['CREATED', 'UPDATED', 'DELETED', 'REVIVED', '']);
  expect(await stored('AGAIN')).toEqual(before);
});

test('what came later is kept where an old part of the partition is read again with it', async () => {
  const early = await rig.queued('LATE', upsert('early'));
  const done = await rig.queued('LATE', status('DONE'));
  await rig.newWorker()(batchOf([early, done]));
  await matterModel(rig.db).updateOne(
    { externalId: 'LATE' },
    { $set: { 'parties.0.unread': false } },
  );
  const more = await rig.queued('LATE', status('REOPENED'));
  await rig.newWorker()(batchOf([early, done, more]));
  expect(await stored('LATE')).toMatchObject({
    bizStatus: 'REOPENED',
    revision: 3,
    parties: [{ username: 'alice', unread: false }],
  });
});

test('two workers at the same pushes: one effect, one matterId, the same replies', async () => {
  for (let round = 0; round < 5; round += 1) {
    const key = `TWICE-${round}`;
    const pushes = [await rig.queued(key, upsert('x')), await rig.queued(key, status('DONE'))];
    const tries = () => [0, 1].map(() => rig.newWorker()(batchOf(pushes)));
    const ends = await whileClockStands(() => Promise.allSettled(tries()));
    const replies = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
    expect(replies.length).toBeGreaterThan(0);
    for (const reply of replies) expect(reply).toEqual(replies[0]);
    expect(await stored(key)).toMatchObject({ revision: 2, bizStatus: 'DONE' });
    expect(await matterModel(rig.db).countDocuments({ externalId: key })).toBe(1);
  }
});

test('a matter that changed under a batch is read again, and nothing of either is lost', async () => {
  await rig.newWorker()(batchOf([await rig.queued('GUARD', upsert('one'))]));
  const push = await rig.queued('GUARD', status('DONE'));
  const bump = { $set: { summary: 'from elsewhere' }, $inc: { revision: 1 } };
  const elsewhere = () => matterModel(rig.db).updateOne({ externalId: 'GUARD' }, bump);
  await whileClockStands(() => rig.newWorker(elsewhere)(batchOf([push])));
  expect(await stored('GUARD')).toMatchObject({
    bizStatus: 'DONE',
    summary: 'from elsewhere',
    revision: 3,
  });
});

/** A worker that has one session. */
const fencedIn = (session: string) => ownerText({ id: 'dead', sessions: [session], name: 'dead' });

test('a worker whose partitions others may have tries nothing again: no earlier push goes over a later one', async () => {
  await rig.newWorker()(batchOf([await rig.queued('OVERTAKEN', upsert('before'))]));
  const earlier = await rig.queued('OVERTAKEN', upsert('earlier'));
  const later = await rig.queued('OVERTAKEN', upsert('later'));
  const overtake = () => rig.newWorker()(batchOf([later]));
  const worker = rig.newWorker(overtake, { isOwned: async () => false });
  await expect(worker(batchOf([earlier]))).rejects.toThrow('no longer owns');
  expect(await stored('OVERTAKEN')).toMatchObject({ title: 'later', revision: 2 });
  expect((await entryModel(rig.db).findById(earlier.id).lean())?.state).toBe('QUEUED');
});

test('a matter that another worker creates under a batch gets one id, not two', async () => {
  const first = await rig.queued('BIRTH', upsert('first'));
  const second = await rig.queued('BIRTH', upsert('second'));
  const other = rig.newWorker();
  const worker = rig.newWorker(() => other(batchOf([first])));
  const replies = await whileClockStands(() => worker(batchOf([first, second])));
  expect(replies).toHaveLength(2);
  expect(await stored('BIRTH')).toMatchObject({ title: 'second', revision: 2 });
  expect(await matterModel(rig.db).countDocuments({ externalId: 'BIRTH' })).toBe(1);
});

test('a batch that died between its first write and its commit is ended by its successor', async () => {
  await rig.newWorker()(batchOf([await rig.queued('DIED', upsert('before'))]));
  const dead = rig.db.getClient().startSession();
  dead.startTransaction();
  const half = { $set: { title: 'half' }, $inc: { revision: 1 } };
  await matterModel(rig.db).updateOne({ externalId: 'DIED' }, half, { session: dead });
  const push = await rig.queued('DIED', status('DONE'));
  const fencedOwners = [fencedIn(dead.id?.id.toString('hex') ?? '')];
  const [reply] = await rig.newWorker()({ ...batchOf([push]), fencedOwners });
  expect(reply?.settlement).toMatchObject({ state: 'PERSISTED', outcome: 'UPDATED' });
  expect(await stored('DIED')).toMatchObject({ title: 'before', bizStatus: 'DONE', revision: 2 });
  await dead.endSession();
});

test('an owner that lives, and has lost its partition at work, does not hold up its successor', async () => {
  await rig.newWorker()(batchOf([await rig.queued('LOST', upsert('before'))]));
  const slow = new SessionPool(rig.db, pino({ level: 'silent' }), 'slow');
  const fencedOwners = [fencedIn(slow.idOf(0))];
  const next = rig.newWorker();
  const replies: unknown[] = [];
  const late = slow.commit(slow.idOf(0), async (session) => {
    const half = { $set: { title: 'half' }, $inc: { revision: 1 } };
    await matterModel(rig.db).updateOne({ externalId: 'LOST' }, half, { session });
    // Its heartbeat goes on: what it holds stays held, unless the next batch knows it as fenced.
    for (const fenced of [{}, { fencedOwners }]) {
      const push = await rig.queued('LOST', status('DONE'));
      replies.push(...(await next({ ...batchOf([push]), ...fenced })));
    }
  });
  await expect(late.finally(() => slow.end())).rejects.toThrow();
  expect(replies).toMatchObject([
    { settlement: { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } },
    { settlement: { state: 'PERSISTED', outcome: 'UPDATED' } },
  ]);
  expect(await stored('LOST')).toMatchObject({ title: 'before', bizStatus: 'DONE', revision: 2 });
});

test('what a dead process left open is ended also where Redis has forgotten it', async () => {
  await rig.newWorker()(batchOf([await rig.queued('FORGOTTEN', upsert('before'))]));
  // A process that has recorded its session, and then neither commits nor sends a heartbeat.
  const dead = rig.db.getClient().startSession();
  const sessions = [dead.id?.id.toString('hex') ?? ''];
  const owners = rig.db.collection<{ _id: string; heartbeat: number; sessions: string[] }>(
    'session_owners',
  );
  await owners.insertOne({ _id: 'dead', heartbeat: 7, sessions });
  dead.startTransaction();
  const half = { $set: { title: 'half' }, $inc: { revision: 1 } };
  await matterModel(rig.db).updateOne({ externalId: 'FORGOTTEN' }, half, { session: dead });
  const worker = rig.newWorker();
  const outcome = await until('the matter to be free', async () => {
    const [reply] = await worker(batchOf([await rig.queued('FORGOTTEN', status('DONE'))]));
    return reply?.settlement.state === 'PERSISTED' && reply.settlement.outcome;
  });
  expect(outcome).toBe('UPDATED');
  const matter = await stored('FORGOTTEN');
  expect(matter).toMatchObject({ title: 'before', bizStatus: 'DONE', revision: 2 });
  await until(
    'its session to be ended',
    async () => (await owners.countDocuments({ _id: 'dead' })) === 0,
  );
  await dead.endSession();
});

test('a push past its deadline is settled as expired and not applied', async () => {
  const late = await rig.queued('EXPIRED', upsert('too late'), { deadline: Date.now() - 1 });
  const intime = await rig.queued('IN-TIME', upsert('in time'));
  const replies = await rig.newWorker()(batchOf([late, intime]));
  expect(replies.map(({ settlement }) => settlement.state).sort()).toEqual([
    'EXPIRED',
    'PERSISTED',
  ]);
  expect(await stored('EXPIRED')).toBeNull();
  expect(await entryModel(rig.db).findById(late.id).lean()).toMatchObject({ state: 'EXPIRED' });
});

test('a push that was settled as expired is never applied later', async () => {
  const push = await rig.queued('SETTLED', upsert('x'));
  const settlement = { state: 'EXPIRED' } as const;
  await rig.pushLog.settle([{ id: push.id, settlement }], { now: Date.now(), worker: 'sweeper' });
  const replies = await rig.newWorker()(batchOf([push]));
  expect(replies).toEqual([{ id: push.id, replyTo: push.replyTo, settlement }]);
  expect(await stored('SETTLED')).toBeNull();
});

/**
 * Holds a matter as a transaction does. A worker may end it with its session, so another begins whenever a worker has
 * read the matter.
 */
function hold(externalId: string) {
  let session: ClientSession | undefined;
  const release = async () => {
    await session?.abortTransaction();
    await session?.endSession();
  };
  const again = async () => {
    await release();
    session = rig.db.getClient().startSession();
    session.startTransaction();
    const touch = { $set: { summary: 'held' } };
    await matterModel(rig.db).updateOne({ externalId }, touch, { session });
  };
  return { again, release };
}

test('a matter that somebody else holds is answered as retryable, and its neighbours go on', async () => {
  await rig.newWorker()(batchOf([await rig.queued('HELD', upsert('held'))]));
  const held = await rig.queued('HELD', status('DONE'));
  const free = await rig.queued('FREE', upsert('free'));
  const { again, release } = hold('HELD');
  const worker = rig.newWorker(undefined, { everyLoad: again });
  const replies = await whileClockStands(() => worker(batchOf([held, free])));
  await release();
  const ends = new Map(replies.map(({ id, settlement }) => [id, settlement]));
  expect(ends.get(held.id)).toEqual({ state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' });
  expect(ends.get(free.id)).toMatchObject({ state: 'PERSISTED', outcome: 'CREATED' });
});

test('a group in trouble among a hundred is found in a few steps, not in one per group', async () => {
  await rig.newWorker()(batchOf([await rig.queued('HELD-ONE', upsert('before'))]));
  const names = Array.from({ length: 100 }, (_, n) => `MANY-${n}`);
  const pushes = await Promise.all(names.map((name) => rig.queued(name, upsert(name))));
  pushes.splice(37, 0, await rig.queued('HELD-ONE', upsert('after')));
  const { again, release } = hold('HELD-ONE');
  const settle = jest.spyOn(rig.pushLog, 'settle');
  // Else its patience would end before it is halved down to the one.
  const worker = rig.newWorker(undefined, { everyLoad: again });
  const replies = await whileClockStands(() => worker(batchOf(pushes)));
  const commits = settle.mock.calls.length;
  settle.mockRestore();
  await release();
  const persisted = replies.filter(({ settlement }) => settlement.state === 'PERSISTED');
  expect(persisted).toHaveLength(100);
  // Seven halvings of a hundred, the tries of the one, and its end.
  expect(commits).toBeLessThan(25);
});

test('a group that cannot be written does not hold up its neighbours in the partition', async () => {
  const broken = { ...upsert('broken'), title: { toBSON: 1 } } as unknown as Operation;
  const poison = await rig.queued('POISON', { op: 'status' } as Operation);
  await rig.newWorker()(batchOf([await rig.queued('POISON', upsert('fine'))]));
  const bad = await rig.queued('POISON', {
    ...broken,
    content: { summary: 'x'.repeat(17 << 20) },
  } as Operation);
  const good = await rig.queued('NEIGHBOUR', upsert('good'));
  const replies = await whileClockStands(() => rig.newWorker()(batchOf([poison, bad, good])));
  const states = new Map(replies.map(({ id, settlement }) => [id, settlement]));
  expect(states.get(good.id)).toMatchObject({ state: 'PERSISTED', outcome: 'CREATED' });
  expect(states.get(bad.id)).toEqual({ state: 'REFUSED', reason: 'OPERATION_FAILED' });
  expect(await stored('NEIGHBOUR')).toMatchObject({ title: 'good' });
});
