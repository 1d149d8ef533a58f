/**
 * On a server that rejects `killSessions` (Atlas M0 and Flex do): what a transaction left open is
 * over once the server gives it up, and until then nobody but its own matters has to wait.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type mongoose from 'mongoose';
import { createLogger } from '../../../src/infra/logger';
import { connectMongo } from '../../../src/infra/mongo';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { SessionPool } from '../../../src/storage/sessions';
import { type RunningServer, startMongo } from '../../../tools/local/servers';
import { type BatchRig, batchOf, createBatchRig } from '../../support/batch-rig';
import { anUpsert } from '../../support/builders';
import { loseAborts } from '../../support/lost-aborts';
import { todo } from '../../support/push-bodies';
import { type Service, startService, withDatabase } from '../../support/service';
import { until } from '../../support/wait';

/** Seconds after which the server gives an open transaction up. */
const LIMIT = 8;
const REFUSED = { failCommands: ['killSessions'], errorCode: 8000 };
/** No rejection: the same may be done a moment later. */
const FAILED = { failCommands: ['killSessions'], errorCode: 1 };
/** Where a commit waits for long enough that its worker can be killed, also by a machine that stands still, and is then not done. */
const HELD = {
  failCommands: ['killSessions', 'commitTransaction'],
  errorCode: 8000,
  blockConnection: true,
  blockTimeMS: 6_000,
};

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-rejected-'));
const parameters = { enableTestCommands: 1, transactionLifetimeLimitSeconds: LIMIT };
let mongo: RunningServer;
let rig: BatchRig;
beforeAll(async () => {
  mongo = await startMongo({ dir, parameters });
  rig = await createBatchRig(mongo.url);
  await failCommands(REFUSED);
});
afterAll(async () => {
  await rig.close();
  await mongo.stop();
  rmSync(dir, { recursive: true, force: true });
});

const admin = () => rig.db.getClient().db('admin');
const failCommands = (data: object) =>
  admin().command({ configureFailPoint: 'failCommand', mode: 'alwaysOn', data });

const stored = (externalId: string) => matterModel(rig.db).findOne({ externalId }).lean();

test.each([
  ['rejected', REFUSED],
  ['failed', FAILED],
])(
  'a guard that failed leaves the worker able to commit where the kill is %s: this push and all later ones',
  async (how, failure) => {
    await failCommands(failure);
    const id = `GUARD-${how}`;
    await rig.newWorker()(batchOf([await rig.queued(id, anUpsert({ title: 'one' }))]));
    const bump = { $set: { summary: 'from elsewhere' }, $inc: { revision: 1 } };
    const worker = rig.newWorker(() => matterModel(rig.db).updateOne({ externalId: id }, bump));
    const replies = [
      ...(await worker(batchOf([await rig.queued(id, anUpsert({ title: 'two' }))]))),
      ...(await worker(batchOf([await rig.queued(id, anUpsert({ title: 'three' }))]))),
      ...(await worker(batchOf([await rig.queued(`OTHER-${how}`, anUpsert({ title: 'four' }))]))),
    ];
    expect(replies.map(({ settlement }) => settlement)).toMatchObject([
      { state: 'PERSISTED', outcome: 'UPDATED' },
      { state: 'PERSISTED', outcome: 'UPDATED' },
      { state: 'PERSISTED', outcome: 'CREATED' },
    ]);
    expect(await stored(id)).toMatchObject({ title: 'three', summary: 'from elsewhere' });
    await failCommands(REFUSED);
  },
);

test('a kill that failed for another reason is tried again, and keeps nobody from committing', async () => {
  const db = await connectMongo(withDatabase(mongo.url, 'killing'), undefined, true);
  let log = '';
  const logger = createLogger('test', 'warn');
  jest.spyOn(logger, 'warn').mockImplementation((...line: unknown[]) => {
    log += JSON.stringify(line);
  });
  const tries = new Map<string, number>();
  db.getClient().on('commandStarted', ({ command }: mongoose.mongo.CommandStartedEvent) => {
    for (const { id } of command.killSessions ?? []) {
      const hex = id.toHexString(false);
      tries.set(hex, (tries.get(hex) ?? 0) + 1);
    }
  });
  const [ofGone, ofFenced] = ['1', '2'].map((digit) => digit.repeat(32)) as [string, string];
  const owners = db.collection<{ _id: string }>('session_owners');
  await owners.insertOne({ _id: 'gone', heartbeat: 1, sessions: [ofGone] } as { _id: string });
  await failCommands(FAILED);
  const sessions = new SessionPool(db, logger, 'test');
  try {
    await sessions.kill([ofFenced]);
    for (const id of [ofGone, ofFenced]) {
      await until('a second try', async () => (tries.get(id) ?? 0) > 1);
    }
    expect(await owners.countDocuments({ _id: 'gone' })).toBe(1);
    await admin().command({ configureFailPoint: 'failCommand', mode: 'off' });
    await until('the end', async () => (await owners.countDocuments({ _id: 'gone' })) === 0);
    expect(log).not.toContain('rejects killSessions');
  } finally {
    await failCommands(REFUSED);
    await sessions.end();
    await db.close();
  }
});

test('an abort that was lost stands in the way of no later push of the same worker', async () => {
  await rig.newWorker()(batchOf([await rig.queued('LOST', anUpsert({ title: 'one' }))]));
  const push = await rig.queued('LOST', anUpsert({ title: 'two' }));
  const worker = rig.newWorker(() =>
    rig.pushLog.settle([{ id: push.id, settlement: { state: 'EXPIRED' } }], {
      now: Date.now(),
      worker: 'sweeper',
    }),
  );
  const heal = loseAborts();
  await worker(batchOf([push])).finally(heal);
  const [reply] = await worker(batchOf([await rig.queued('LOST', anUpsert({ title: 'three' }))]));
  expect(reply?.settlement).toMatchObject({ state: 'PERSISTED', outcome: 'UPDATED' });
});

test('a large batch that is held as a whole comes to its end in few tries, before the partition is given up', async () => {
  const names = Array.from({ length: 200 }, (_, n) => `LARGE-${n}`);
  const worker = rig.newWorker();
  await worker(
    batchOf(await Promise.all(names.map((name) => rig.queued(name, anUpsert({ title: 'one' }))))),
  );
  await admin().command({ setParameter: 1, transactionLifetimeLimitSeconds: 600 });
  const dead = rig.db.getClient().startSession();
  dead.startTransaction();
  const half = { $set: { title: 'half' }, $inc: { revision: 1 } };
  await matterModel(rig.db).updateMany({ externalId: { $in: names } }, half, { session: dead });
  const held = await Promise.all(names.map((name) => rig.queued(name, anUpsert({ title: 'two' }))));
  const started = async () =>
    Number((await admin().command({ serverStatus: 1 })).transactions.totalStarted);
  const before = await started();
  const replies = await worker(batchOf(held));
  const tries = (await started()) - before;
  await dead.abortTransaction();
  await dead.endSession();
  await admin().command({ setParameter: 1, transactionLifetimeLimitSeconds: LIMIT });
  const REFUSED_FOR_NOW = { state: 'REFUSED', reason: 'DATABASE_UNAVAILABLE' };
  expect(replies.map(({ settlement }) => settlement)).toEqual(held.map(() => REFUSED_FOR_NOW));
  // Halving down to single groups takes 399 tries. Giving up together takes 63 tries (retry.test.ts), plus tries of
  // single groups while the time for retries lasts: in at most 5 s, their pauses allow about 180.
  expect(tries).toBeLessThan(300);
});

describe('a worker that was killed between its writes and its commit', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({
      processes: 'workers',
      mongoUrl: mongo.url,
      env: { PUSH_TIMEOUT: '3s' },
    });
    await service.startWeb({ PUSH_TIMEOUT: '120s' });
  });
  afterAll(() => service.stop());

  const push = (externalId: string, title = 'x', web = 0) =>
    service.push('upsert', todo(externalId, { title }), { url: service.urlOf(web) });
  const commitsUnderWay = () =>
    admin()
      .aggregate([{ $currentOp: {} }, { $match: { 'command.commitTransaction': 1 } }])
      .toArray();

  test('the start says that the server refuses to end it', async () => {
    const log = () => readFileSync(String(service.workers[0]?.logFile), 'utf8');
    const lines = () => log().match(/"msg":"the server rejects killSessions[^"]*"/g);
    expect(await until('the line', async () => lines())).toHaveLength(1);
  });

  test('its matters wait for the server, with an answer each; their neighbours do not', async () => {
    expect(await push('HELD', 'before', 1)).toMatchObject({ code: 0 });
    // Long enough for a new worker and its neighbours on a busy machine: meanwhile the matter must stay held.
    await admin().command({ setParameter: 1, transactionLifetimeLimitSeconds: 4 * LIMIT });
    await failCommands(HELD);
    const { answer: lost } = await pushUntilCommit();
    for (const worker of service.workers.splice(0)) worker.kill('SIGKILL');
    await until('it to fail', async () => (await commitsUnderWay()).length === 0);
    await failCommands(REFUSED);
    await service.startWorker();

    // More than one in each partition, so that some are behind what is held.
    const others = Array.from({ length: 24 }, (_, n) => push(`NEIGHBOUR-${n}`, 'x', 1));
    const codes = (await Promise.all(others)).map(({ code }) => code);
    expect(await lost).toMatchObject({ code: 504, retryable: true });
    expect((await stateOf('HELD')).open).toBe(1);
    expect(codes.filter((code) => code === 0)).toHaveLength(24);
    const held = await push('HELD', 'held');
    expect([503, 504]).toContain(held.code);
    expect(held.retryable).toBe(true);

    await until('the matter to be free', async () => (await push('HELD', 'after')).code === 0);
    const matter = await matterModel(service.db).findOne({ externalId: 'HELD' }).lean();
    await admin().command({ setParameter: 1, transactionLifetimeLimitSeconds: LIMIT });
    const { persisted } = await stateOf('HELD');
    expect(matter).toMatchObject({ title: 'after', revision: persisted });
  });

  /** Pushes until a worker commits the push: while a machine stands still, a push may expire before its commit. */
  async function pushUntilCommit() {
    const send = () => {
      const sent = { answer: push('HELD', 'lost'), hasEnded: false };
      void sent.answer.finally(() => {
        sent.hasEnded = true;
      });
      return sent;
    };
    let last = send();
    await until('the commit', async () => {
      if ((await commitsUnderWay()).length > 0) return true;
      if (last.hasEnded) last = send();
      return false;
    });
    // An object, because `await` would wait for the answer too.
    return { answer: last.answer };
  }

  /** How many pushes of a matter have taken effect, and how many are still open. */
  async function stateOf(externalId: string) {
    const entries = await entryModel(service.db).find({ externalId }).lean();
    const count = (wanted: string) => entries.filter(({ state }) => state === wanted).length;
    return { persisted: count('PERSISTED'), open: count('QUEUED') };
  }
});
