/** While the majority lags behind its primary (an election just now, a slow disk), no word is a guess. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mongo } from 'mongoose';
import { nativeCollection } from '../../../src/infra/mongo';
import { matterModel } from '../../../src/storage/ledger/matters';
import { createFinalize, settlementOf } from '../../../src/storage/push-log';
import { entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import { createLogLookups } from '../../../src/storage/push-log/lookups';
import { type ReplicaSet, startReplicaSet } from '../../../tools/local/servers';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert } from '../../support/builders';
import { aLogEntry } from '../../support/log-entries';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-slow-majority-'));
let set: ReplicaSet;
let rig: BatchRig;
let followers: mongo.MongoClient[] = [];
beforeAll(async () => {
  // What a test holds in a transaction, the server does not end meanwhile.
  const parameters = { enableTestCommands: 1, transactionLifetimeLimitSeconds: 600 };
  set = await startReplicaSet({ dir, members: 3, parameters });
  const primary = await set.primary();
  const others = set.members.filter((member) => member !== primary);
  followers = others.map(({ url }) => new mongo.MongoClient(url));
  rig = await createBatchRig(set.url);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await followed('off');
});
afterAll(async () => {
  await Promise.all(followers.map((follower) => follower.close(true)));
  await rig?.close();
  await set?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Whether the other members stand still. */
const followed = (mode: 'alwaysOn' | 'off') =>
  Promise.all(
    followers.map((follower) =>
      follower.db('admin').command({ configureFailPoint: 'stopReplProducer', mode }),
    ),
  );
const log = () => nativeCollection<LogEntry>(entryModel(rig.db));
const ON_PRIMARY = { writeConcern: { w: 1 } } as const;
/** The entry as an election leaves it for a moment: the new primary has it, its confirmed view does not yet. */
async function unconfirmed(externalId: string, title: string) {
  const push = await rig.queued(externalId, anUpsert({ title }));
  const entry = await log().findOne({ _id: new mongo.ObjectId(push.id) });
  await log().deleteOne({ _id: new mongo.ObjectId(push.id) });
  await followed('alwaysOn');
  await log().insertOne(entry as LogEntry, ON_PRIMARY);
  return push;
}
const wordOf = async (id: string) => {
  const entry = await log().findOne({ _id: new mongo.ObjectId(id) });
  return entry && settlementOf(entry);
};

test('a push whose entry is not to be seen yet is told what the log will say', async () => {
  const worker = rig.newWorker();
  await worker(batchOf([await rig.queued('UNSEEN', anUpsert({ title: 'one' }))]));
  const push = await unconfirmed('UNSEEN', 'two');
  const settle = rig.pushLog.settle;
  jest.spyOn(rig.pushLog, 'settle').mockImplementation(async (pushes, by) => {
    await followed('off');
    return settle(pushes, { ...by, ...(!by.session && { timeout: 60_000 }) });
  });
  const replies = await worker(batchOf([push]));
  expect(replies.map(({ settlement }) => settlement)).toEqual([await wordOf(push.id)]);
});

test('a push that was sent again takes one effect, also while nobody knows whether the first one stays', async () => {
  const [first, second] = [rig.newWorker(), rig.newWorker()];
  await first(batchOf([await rig.queued('TWICE', anUpsert({ title: 'one' }))]));
  await second(batchOf([await rig.queued('TWICE', anUpsert({ title: 'two' }))]));
  const pushes = [
    await rig.queued('TWICE', anUpsert({ title: 'three' }), { idempotencyFingerprint: 'the same' }),
    await rig.queued('TWICE', anUpsert({ title: 'three' }), { idempotencyFingerprint: 'the same' }),
  ] as const;
  await followed('alwaysOn');
  const sent = first(batchOf([pushes[0]]));
  await until('its effect on the primary', async () => {
    const word = await wordOf(pushes[0].id);
    return word?.state === 'PERSISTED';
  });
  const settle = rig.pushLog.settle;
  jest.spyOn(rig.pushLog, 'settle').mockImplementation(async (settled, by) => {
    await followed('off');
    return settle(settled, { ...by, ...(!by.session && { timeout: 60_000 }) });
  });
  const again = await second(batchOf([pushes[1]]));
  await sent;
  expect(again[0]?.settlement).toEqual(await wordOf(pushes[1].id));
  expect(again[0]?.settlement.state).not.toBe('PERSISTED');
  const matter = await matterModel(rig.db).findOne({ externalId: 'TWICE' }).lean();
  expect(matter).toMatchObject({ title: 'three', revision: 3 });
});

test('a push is recorded before the majority has its entry, an answer is not', async () => {
  const deadlineAt = new Date(Date.now() + 60_000);
  const entry = () => aLogEntry({ deadlineAt });
  const [queued, next] = [entry(), entry()];
  const rejected: LogEntry = { ...entry(), state: 'REFUSED', result: 'VALIDATION_FAILED' };
  await followed('alwaysOn');
  await rig.pushLog.append(queued, Buffer.from('{}'));
  let isConfirmed = false;
  const confirmed = rig.pushLog.append(rejected, Buffer.from('{}')).then(() => {
    isConfirmed = true;
  });
  await until('the entry on the primary', () => log().findOne({ _id: rejected._id }));
  await rig.pushLog.append(next, Buffer.from('{}'));
  expect(isConfirmed).toBe(false);
  await followed('off');
  await confirmed;
});

test('a push counts as queued, although the majority has no entry of it yet', async () => {
  await followed('alwaysOn');
  const { id } = await rig.queued('ON-THE-PRIMARY', anUpsert({ title: 'one' }));
  const unknown = String(aLogEntry()._id);
  const lookups = createLogLookups(rig.db);
  expect([...(await lookups.settlements([id, unknown]))]).toEqual([[id, undefined]]);
  const ended = { state: 'PERSISTED', result: 'CREATED', matterId: 1n } as const;
  await log().updateOne({ _id: new mongo.ObjectId(id) }, { $set: ended }, ON_PRIMARY);
  expect([...(await lookups.settlements([id]))]).toEqual([[id, undefined]]);
  expect(await lookups.entries('tester', [id, unknown])).toMatchObject([{ state: 'QUEUED' }]);
  expect(await lookups.entries('other', [id])).toEqual([]);
});

describe('a push whose entry an election has removed', () => {
  const by = { now: Date.now(), worker: 'web' };
  const lost = async (externalId: string) => {
    const push = await rig.queued(externalId, anUpsert({ title: 'lost' }), {
      idempotencyFingerprint: externalId,
    });
    const entry = await log().findOneAndDelete({ _id: new mongo.ObjectId(push.id) });
    return { push, entry: entry as LogEntry };
  };

  test('gets its entry again when it is finalized, and takes no effect afterwards', async () => {
    const { push, entry } = await lost('LOST');
    const finalize = createFinalize(rig.pushLog, createLogLookups(rig.db));
    const settlement = { state: 'EXPIRED' } as const;
    expect(await finalize([{ id: push.id, settlement, entry }], by)).toEqual([settlement]);
    const stored = await log().findOne({ _id: entry._id });
    expect(stored).toMatchObject({ state: 'EXPIRED', externalId: 'LOST', worker: 'web' });
    expect(stored).not.toHaveProperty('idempotencyFingerprint');
    const replies = await rig.newWorker()(batchOf([push]));
    expect(replies).toMatchObject([{ settlement }]);
    expect(await matterModel(rig.db).findOne({ externalId: 'LOST' })).toBeNull();
  });

  test('is rejected by a worker, and the other pushes of the batch are applied', async () => {
    const { push } = await lost('LOST-TOO');
    const other = await rig.queued('PRESENT', anUpsert({ title: 'one' }));
    const replies = await rig.newWorker()(batchOf([push, other]));
    expect(new Map(replies.map(({ id, settlement }) => [id, settlement]))).toMatchObject(
      new Map([
        [push.id, { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' }],
        [other.id, { state: 'PERSISTED' }],
      ]),
    );
    expect(await matterModel(rig.db).findOne({ externalId: 'LOST-TOO' })).toBeNull();
    expect(await matterModel(rig.db).findOne({ externalId: 'PRESENT' })).not.toBeNull();
  });
});

describe('pushes that end together', () => {
  const EXPIRED = { state: 'EXPIRED' } as const;
  const by = { now: Date.now(), worker: 'web' };
  const finalize = () => createFinalize(rig.pushLog, createLogLookups(rig.db));
  const ending = async (count: number) => {
    const pushes = Array.from({ length: count }, (_, n) =>
      rig.queued(`END-${n}`, anUpsert({ title: 'x' })),
    );
    return (await Promise.all(pushes)).map(({ id }) => ({ id, settlement: EXPIRED }));
  };

  test('are one command while the majority is slow, and nobody is told anything', async () => {
    const pushes = await ending(50);
    await followed('alwaysOn');
    const settle = jest.spyOn(rig.pushLog, 'settle');
    expect(await finalize()(pushes, by)).toEqual(pushes.map(() => undefined));
    expect(settle).toHaveBeenCalledTimes(1);
    await followed('off');
    const ended = await until('the majority', async () => {
      const words = await finalize()(pushes, by);
      return words.every(Boolean) && words;
    });
    expect(ended).toEqual(pushes.map(() => EXPIRED));
  });

  test('do so without a crowd of commands where one of them is held', async () => {
    const pushes = await ending(50);
    const holder = rig.db.getClient().startSession();
    holder.startTransaction();
    const _id = new mongo.ObjectId(pushes[7]?.id);
    await log().updateOne({ _id }, { $set: { worker: 'dead' } }, { session: holder });
    const settle = rig.pushLog.settle;
    let atOnce = 0;
    let most = 0;
    jest.spyOn(rig.pushLog, 'settle').mockImplementation(async (...args) => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      return settle(...args).finally(() => {
        atOnce -= 1;
      });
    });
    const free = pushes.filter((_, n) => n !== 7);
    // All of them have a second: a slow machine ends some of them at the next try.
    const ended = await until('all that nobody holds', async () => {
      const words = await finalize()(pushes, by);
      return words.filter(Boolean).length >= free.length && words;
    });
    await holder.abortTransaction();
    await holder.endSession();
    expect(ended).toEqual(pushes.map((_, n) => (n === 7 ? undefined : EXPIRED)));
    expect(most).toBeLessThanOrEqual(8);
  });
});
