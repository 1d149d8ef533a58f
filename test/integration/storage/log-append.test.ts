/** The append of the push log under what a real server does to writes: every entry gets there once. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, mongo } from 'mongoose';
import { connectMongo, nativeCollection } from '../../../src/infra/mongo';
import { createPushLog, type PushLog } from '../../../src/storage/push-log';
import {
  bodyModel,
  entryModel,
  type LogEntry,
  type LoggedBody,
} from '../../../src/storage/push-log/entry';
import { prepareDatabase } from '../../../src/storage/schema';
import type { RunningServer } from '../../../tools/local/server';
import { startMongo } from '../../../tools/local/servers';
import { aLogEntry } from '../../support/log-entries';

const DAY = 86_400_000;
/** Longer than a busy machine needs for a burst: none of this is about the deadline. */
const TIMEOUT = 120_000;
/** Little memory, so that a burst is large for it; and commands can be made to fail. */
const SERVER = { cacheSize: 0.25, parameters: { enableTestCommands: 1 } };

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-append-'));
let server: RunningServer;
let db: Connection;
let pushLog: PushLog;
beforeAll(async () => {
  server = await startMongo({ dir, ...SERVER });
  db = await connectMongo(server.url);
  await prepareDatabase(db, { retention: 30 * DAY, bodyRetention: DAY, concluded: ['DONE'] });
  pushLog = createPushLog(db);
});
afterAll(async () => {
  await db.close();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const newEntry = (more: Partial<LogEntry> = {}) =>
  aLogEntry({ deadlineAt: new Date(Date.now() + TIMEOUT), ...more });

/** How many of these appends failed, by what the errors say. */
async function failuresOf(appends: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const failures: Record<string, number> = {};
  for (const result of await Promise.allSettled(appends)) {
    if (result.status === 'fulfilled') continue;
    const name = String(result.reason).slice(0, 100);
    failures[name] = (failures[name] ?? 0) + 1;
  }
  return failures;
}

test('a burst of large bodies is recorded whole', async () => {
  const body = randomBytes(250_000);
  const entries = Array.from({ length: 600 }, () => newEntry({ externalId: 'LARGE' }));
  expect(await failuresOf(entries.map((entry) => pushLog.append(entry, body)))).toEqual({});
  const ids = entries.map(({ _id }) => _id);
  expect(await entryModel(db).countDocuments({ _id: { $in: ids } })).toBe(600);
  expect(await bodyModel(db).countDocuments({ _id: { $in: ids } })).toBe(600);
});

test('pushes are recorded while an index of the log is made', async () => {
  const collection = nativeCollection<LogEntry>(entryModel(db));
  for (let round = 0; round < 4; round += 1) {
    await collection.insertMany(
      Array.from({ length: 5_000 }, () => newEntry({ state: 'EXPIRED' })),
    );
  }
  let isBuilding = true;
  const building = (async () => {
    for (const name of ['one', 'two']) {
      await collection.createIndex({ [name]: 1, bodyHash: 1, _id: 1 }, { name });
      await collection.dropIndex(name);
    }
  })().finally(() => {
    isBuilding = false;
  });
  const appends: Promise<unknown>[] = [];
  while (isBuilding) {
    for (let n = 0; n < 20; n += 1) appends.push(pushLog.append(newEntry(), Buffer.from('{}')));
    await sleep(2);
  }
  await building;
  expect(await failuresOf(appends)).toEqual({});
});

/** Makes the next inserts fail; other commands are left alone. */
const failInserts = (mode: { times: number } | 'off', how: object = {}) =>
  db
    .getClient()
    .db('admin')
    .command({
      configureFailPoint: 'failCommand',
      mode,
      data: { failCommands: ['insert'], ...how },
    });
const WRITE_CONFLICT = { errorCode: 112 };
/** The write is done, and its confirmation is not. */
const UNCONFIRMED = { writeConcernError: { code: 64, errmsg: 'waited for too long' } };

test.each([
  ['write conflicts', WRITE_CONFLICT],
  ['interruptions by an index build', { errorCode: 276 }],
  ['a primary that stepped down', { errorCode: 189, errorLabels: ['RetryableWriteError'] }],
  ['connections that break', { closeConnection: true }],
  ['confirmations that do not come', UNCONFIRMED],
])('%s pass, and the entry is there once', async (_, how) => {
  // More than the one retry of the driver's own, for entry and body.
  await failInserts({ times: 8 }, how);
  const [one, other] = [newEntry(), newEntry()];
  await Promise.all([pushLog.append(one, Buffer.from('body')), pushLog.append(other)]);
  const ids = [one._id, other._id];
  expect(await entryModel(db).countDocuments({ _id: { $in: ids } })).toBe(2);
  expect(await bodyModel(db).countDocuments({ _id: { $in: ids } })).toBe(1);
});

test('a failure that lasts is told before the deadline of its push', async () => {
  await failInserts({ times: 1_000 }, WRITE_CONFLICT);
  const deadlineAt = new Date(Date.now() + 300);
  await expect(pushLog.append(newEntry({ deadlineAt }))).rejects.toThrow();
  await failInserts('off');
});

test('an open entry is not recorded after its deadline, one that is settled is', async () => {
  const past = new Date(Date.now() - 1);
  const open = newEntry({ deadlineAt: past });
  const settled = newEntry({ deadlineAt: past, state: 'REFUSED' });
  const appends = [pushLog.append(open, Buffer.from('{}')), pushLog.append(settled)];
  const ends = (await Promise.allSettled(appends)).map(({ status }) => status);
  expect(ends).toEqual(['rejected', 'fulfilled']);
  expect(await entryModel(db).findById(open._id)).toBeNull();
});

test('an id that another entry has is a failure of its own entry alone', async () => {
  const first = newEntry();
  await pushLog.append(first);
  const same = newEntry({ _id: first._id, clientId: 'other' });
  const neighbour = newEntry();
  const [failed, done] = await Promise.allSettled([
    pushLog.append(same),
    pushLog.append(neighbour, Buffer.from('{}')),
  ]);
  expect([failed.status, done.status]).toEqual(['rejected', 'fulfilled']);
  expect(await entryModel(db).findById(first._id).lean()).toMatchObject({ clientId: 'tester' });
});

describe('what is recorded together goes into the database together', () => {
  const pushes = (count: number, bytes: number) =>
    Array.from({ length: count }, () => ({ entry: newEntry(), body: Buffer.alloc(bytes, ' ') }));
  /** @returns how many documents each insert has from now on */
  const countInserts = <T extends { _id: unknown }>(collection: mongo.Collection<T>): number[] => {
    const counts: number[] = [];
    const insert = collection.insertMany.bind(collection);
    jest.spyOn(collection, 'insertMany').mockImplementation((documents, options) => {
      counts.push(documents.length);
      return insert(documents, options);
    });
    return counts;
  };
  let entries: number[];
  let bodies: number[];
  beforeEach(() => {
    entries = countInserts(nativeCollection<LogEntry>(entryModel(db)));
    bodies = countInserts(nativeCollection<LoggedBody>(bodyModel(db)));
  });
  afterEach(() => jest.restoreAllMocks());

  test('a batch of 1,000 pushes is one insert of entries and one of bodies', async () => {
    expect(await pushLog.appendAll(pushes(1_000, 8_000))).toEqual(new Map());
    expect([entries, bodies]).toEqual([[1_000], [1_000]]);
  });

  test('so are small batches and single pushes that come together', async () => {
    const single = { entry: newEntry(), body: Buffer.from('{}') };
    await Promise.all([
      pushLog.appendAll(pushes(50, 100)),
      pushLog.append(single.entry, single.body),
      pushLog.appendAll(pushes(50, 100)),
    ]);
    expect([entries, bodies]).toEqual([[101], [101]]);
  });

  test('large ones are not: an insert is bounded in bytes', async () => {
    await Promise.all([1, 2, 3].map(() => pushLog.appendAll(pushes(100, 30_000))));
    expect([entries, bodies]).toEqual([
      [100, 100, 100],
      [100, 100, 100],
    ]);
  });
});
