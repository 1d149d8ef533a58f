/** What was lost on the way is ended, and looking for it costs the same however long the log is. */
import type { Connection } from 'mongoose';
import { nativeCollection } from '../../../src/infra/mongo';
import type { LogState } from '../../../src/protocol/log-states';
import { createExpireLost, type ExpireLost } from '../../../src/storage/push-log';
import { entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import { prepareDatabase } from '../../../src/storage/schema';
import { dropDatabase, newDatabase } from '../../support/database';
import { aLogEntry } from '../../support/log-entries';

const DAY = 86_400_000;
const NOW = Date.now();
const BY = { now: NOW, worker: 'sweeper' };

let db: Connection;
let expireLost: ExpireLost;
beforeEach(async () => {
  db = await newDatabase();
  await prepareDatabase(db, { retention: 30 * DAY, bodyRetention: DAY, concluded: ['DONE'] });
  expireLost = createExpireLost(db);
});
afterEach(() => dropDatabase(db));

const log = () => nativeCollection<LogEntry>(entryModel(db));
const entryAt = (at: number, state: LogState = 'QUEUED') => aLogEntry({ state }, at);
const stateOf = async ({ _id }: LogEntry) => (await log().findOne({ _id }))?.state;

test('an entry is ended once it is old enough, not before, and only where it is open', async () => {
  const [lost, done] = [entryAt(NOW), entryAt(NOW, 'PERSISTED')];
  await log().insertMany([lost, done]);
  expect(await expireLost(NOW - 5_000, BY)).toBe(0);
  expect(await stateOf(lost)).toBe('QUEUED');
  expect(await expireLost(NOW + 5_000, BY)).toBe(1);
  expect(await log().findOne({ _id: lost._id })).toMatchObject({
    state: 'EXPIRED',
    result: 'CONFIRMATION_TIMEOUT',
    worker: 'sweeper',
  });
  expect(await stateOf(done)).toBe('PERSISTED');
});

test('each entry is looked at once, and no command looks at many', async () => {
  const entries = Array.from({ length: 12_000 }, (_, n) =>
    entryAt(NOW - 20_000 + n, n % 1_000 === 0 ? 'QUEUED' : 'PERSISTED'),
  );
  await log().insertMany(entries);
  await db.db?.command({ profile: 2 });
  expect(await expireLost(NOW, BY)).toBe(12);
  const recent = entryAt(NOW + 1);
  await log().insertOne(recent);
  expect(await expireLost(NOW + 1_000, BY)).toBe(1);
  await db.db?.command({ profile: 0 });
  const commands = await db
    .collection('system.profile')
    .find({ ns: /push_log$/ })
    .toArray();
  const looks = commands.map(({ docsExamined }) => Number(docsExamined ?? 0));
  expect(Math.max(...looks)).toBeLessThanOrEqual(5_000);
  // All of them once, and the recent one alone after that.
  expect(looks.reduce((sum, look) => sum + look, 0)).toBe(12_001);
});

test('workers that look at the same time end each entry once', async () => {
  await log().insertMany(Array.from({ length: 7_000 }, (_, n) => entryAt(NOW - 9_000 + n)));
  const counts = await Promise.all([1, 2, 3].map(() => createExpireLost(db)(NOW, BY)));
  const left = await createExpireLost(db)(NOW, BY);
  expect(counts.reduce((sum, count) => sum + count, left)).toBe(7_000);
  expect(await log().countDocuments({ state: 'QUEUED' })).toBe(0);
});

test('where the clock of the queue went back, so does the look', async () => {
  await expireLost(NOW, BY);
  const lost = entryAt(NOW - 100_000);
  await log().insertOne(lost);
  await expireLost(NOW - 200_000, BY);
  expect(await expireLost(NOW - 50_000, BY)).toBe(1);
  expect(await stateOf(lost)).toBe('EXPIRED');
});

test('a look that is to stop leaves the rest to the next one', async () => {
  await log().insertMany(Array.from({ length: 12_000 }, (_, n) => entryAt(NOW - 20_000 + n)));
  const stopping = new AbortController();
  const first = expireLost(NOW, BY, stopping.signal);
  stopping.abort();
  const ended = await first;
  expect(ended).toBeLessThan(12_000);
  expect(ended + (await expireLost(NOW, BY))).toBe(12_000);
});
