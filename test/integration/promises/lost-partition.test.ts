/**
 * Promises 1 and 4: a worker that has read pushes and lost their partitions since decides nothing about
 * them, and pushes past their deadline are final before later ones take effect.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { Operation } from '../../../src/domain/operation';
import type { Partitions } from '../../../src/queue/commands/partitions';
import { createRedisKeys } from '../../../src/queue/keys';
import type { Batch } from '../../../src/queue/records';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { type RunningServer, startMongo } from '../../../tools/local/servers';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert } from '../../support/builders';
import { openPartitions, partitionOfKey, take } from '../../support/partitions';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

const keys = createRedisKeys(`t-${randomBytes(5).toString('hex')}`);
const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-lost-partition-'));
let server: RunningServer;
let rig: BatchRig;
let redis: Redis;
let partitions: Partitions;
beforeAll(async () => {
  // The server ends no transaction that a test holds, on however slow a machine.
  const parameters = { transactionLifetimeLimitSeconds: 600 };
  server = await startMongo({ dir, parameters });
  rig = await createBatchRig(server.url);
  redis = new Redis(testServers().redisUrl);
  partitions = openPartitions(redis, keys, { pushes: 100, bytes: 1_000_000 });
});
afterEach(() => emptyRedis());
afterAll(async () => {
  redis.disconnect();
  await rig?.close();
  await server?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const DONE: Operation = { op: 'status', bizStatus: 'DONE', resetAssigneeUnread: false };

/** Redis loses what this test has in it. */
async function emptyRedis(): Promise<void> {
  const found = await redis.keys(`${keys.bullPrefix(0)}*`);
  if (found.length > 0) await redis.del(found);
}

/** A push as a web process records and queues it. @returns its request id */
async function accepted(externalId: string, operation: Operation): Promise<string> {
  const {
    deadline: _deadline,
    queuedAt: _queuedAt,
    ...push
  } = await rig.queued(externalId, operation);
  await partitions.append(0, [{ push, timeout: 60_000 }]);
  return push.id;
}

const readBy = (worker: string, externalId: string) =>
  take(partitions, [partitionOfKey('TEST', externalId)], worker);
const newWorker = () => rig.newWorker(undefined, { isOwned: partitions.isOwned });
const stored = (externalId: string) => matterModel(rig.db).findOne({ externalId }).lean();
const entryOf = (id: string) => entryModel(rig.db).findById(id).lean();

/** A worker takes the partition, applies what is in it, replies and trims. */
async function applyBy(worker: string, externalId: string): Promise<void> {
  const batch = await readBy(worker, externalId);
  await partitions.replyAndRemove(batch, await newWorker()(batch), batch.now);
}

test('a batch that was read before Redis was emptied does not go over what another worker applied since', async () => {
  const key = 'EMPTIED';
  await rig.newWorker()(batchOf([await rig.queued(key, anUpsert({ title: 'before' }))]));
  const earlier = await accepted(key, anUpsert({ title: 'earlier' }));
  const batch = await readBy('a', key);
  await emptyRedis();
  await accepted(key, anUpsert({ title: 'later' }));
  await applyBy('b', key);
  await expect(newWorker()(batch)).rejects.toThrow('no longer owns');
  expect(await stored(key)).toMatchObject({ title: 'later', revision: 2 });
  expect((await entryOf(earlier))?.state).toBe('QUEUED');
});

test('nor does it create a matter that another worker has reported as missing since', async () => {
  const key = 'NOT-THERE';
  const earlier = await accepted(key, anUpsert({ title: 'created' }));
  const batch = await readBy('a', key);
  await emptyRedis();
  const later = await accepted(key, DONE);
  await applyBy('b', key);
  expect(await entryOf(later)).toMatchObject({ state: 'REFUSED', result: 'MATTER_NOT_FOUND' });
  await expect(newWorker()(batch)).rejects.toThrow('no longer owns');
  expect(await stored(key)).toBeNull();
  expect((await entryOf(earlier))?.state).toBe('QUEUED');
});

test('nor does it settle a push without an effect by what another worker has changed since', async () => {
  const key = 'DELETED';
  await rig.newWorker()(batchOf([await rig.queued(key, anUpsert({ title: 'before' }))]));
  const earlier = await accepted(key, DONE);
  const batch = await readBy('a', key);
  await emptyRedis();
  await accepted(key, { op: 'delete' });
  await applyBy('b', key);
  await expect(newWorker()(batch)).rejects.toThrow('no longer owns');
  expect((await entryOf(earlier))?.state).toBe('QUEUED');
});

test('nor is a push without an effect decided beside what a worker of before may still commit', async () => {
  const key = 'BESIDE';
  await rig.newWorker()(batchOf([await rig.queued(key, anUpsert({ title: 'before' }))]));
  await rig.newWorker()(batchOf([await rig.queued(key, { op: 'delete' })]));
  const earlier = await accepted(key, anUpsert({ title: 'revived' }));
  // It asks Redis in time, and has written all but its commit when Redis is emptied.
  let commit: () => void = () => undefined;
  const mayCommit = new Promise<void>((resolve) => {
    commit = resolve;
  });
  const isOwned = async (batch: Batch) => {
    const held = await partitions.isOwned(batch);
    await mayCommit;
    return held;
  };
  const batch = await readBy('a', key);
  let isWritten = false;
  const afterWrite = () => {
    isWritten = true;
  };
  const replies = rig.newWorker(undefined, { isOwned, afterWrite })(batch).catch(String);
  await until('it to have written', async () => isWritten);
  await emptyRedis();
  const later = await accepted(key, DONE);
  await applyBy('b', key);
  expect(await entryOf(later)).toMatchObject({ state: 'REFUSED', result: 'MATTER_DELETED' });
  commit();
  expect(await replies).toMatch(/has been aborted|does not hold/);
  expect(await stored(key)).toMatchObject({ deleted: true, revision: 2 });
  expect((await entryOf(earlier))?.state).toBe('QUEUED');
});

test('a worker whose Redis does not say whether it holds the partition commits nothing', async () => {
  const key = 'UNKNOWN';
  await accepted(key, anUpsert({ title: 'created' }));
  const batch = await readBy('a', key);
  const isOwned = (_batch: Batch) => Promise.reject(new Error('Connection is closed.'));
  const worker = rig.newWorker(undefined, { isOwned });
  await expect(worker(batch)).rejects.toThrow('does not confirm');
  expect(await stored(key)).toBeNull();
});

test('a push past its deadline is final before a later one takes effect', async () => {
  const key = 'IN-TURN';
  const late = await rig.queued(key, anUpsert({ title: 'too late' }), { deadline: Date.now() - 1 });
  const live = await rig.queued(key, anUpsert({ title: 'in time' }));
  let state: string | undefined;
  const look = async () => {
    state = (await entryOf(late.id))?.state;
  };
  await rig.newWorker(look)(batchOf([late, live]));
  expect(state).toBe('EXPIRED');
  expect(await stored(key)).toMatchObject({ title: 'in time', revision: 1 });
});

test('so is a line of a batch that is skipped behind it', async () => {
  const key = 'SKIPPED';
  const late = await rig.queued(key, anUpsert({ title: 'too late' }), { deadline: Date.now() - 1 });
  const behind = await rig.queued(key, anUpsert({ title: 'skipped' }), { previous: late.id });
  const live = await rig.queued(key, anUpsert({ title: 'in time' }));
  let state: string | undefined;
  const look = async () => {
    state = (await entryOf(behind.id))?.state;
  };
  await rig.newWorker(look)(batchOf([late, behind, live]));
  expect(state).toBe('REFUSED');
  expect(await stored(key)).toMatchObject({ title: 'in time', revision: 1 });
});

test('while a transaction may yet persist a push past its deadline, later pushes of its matter are not decided', async () => {
  const key = 'MAY-YET';
  const late = await rig.queued(key, anUpsert({ title: 'created late' }), {
    deadline: Date.now() - 1,
  });
  const live = await rig.queued(key, DONE);
  const other = await rig.queued('ELSEWHERE', anUpsert({ title: 'in time' }));
  const former = rig.db.getClient().startSession();
  former.startTransaction();
  const settled = { $set: { state: 'PERSISTED' } } as const;
  await entryModel(rig.db).updateOne({ _id: late.id }, settled, { session: former });
  const replies = await rig.newWorker()(batchOf([late, live, other]));
  expect(replies).toMatchObject([
    { id: live.id, settlement: { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' } },
    { id: other.id, settlement: { state: 'PERSISTED' } },
  ]);
  await former.abortTransaction();
  await former.endSession();
});
