/** Searches of a log that is larger than what one read of it gives: nothing is lost or repeated. */
import { randomBytes } from 'node:crypto';
import { type Connection, Types } from 'mongoose';
import { nativeCollection } from '../../../src/infra/mongo';
import { ALL_REASONS, type Reason } from '../../../src/protocol/errors';
import { resultOf } from '../../../src/storage/push-log';
import { entryModel, type LogEntry } from '../../../src/storage/push-log/entry';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import { createIdSource } from '../../../src/storage/push-log/request-id';
import { createLogSearch, type LogSearch } from '../../../src/storage/push-log/search';
import { prepareDatabase } from '../../../src/storage/schema';
import { dropDatabase, newDatabase } from '../../support/database';
import { aLogEntry } from '../../support/log-entries';

const DAY = 86_400_000;
const NOW = Date.now();
/** More than is read at once, within seconds; before and after it, long silence. */
const BURST = 12_000;
const SYSTEMS = ['A', 'B', 'C'];
const FAILED_EVERY = 1_000;
const REASONS: Reason[] = ['VALIDATION_FAILED', 'UNKNOWN_USER'];

let db: Connection;
let search: LogSearch;
/** Oldest first. */
const ids: string[] = [];

beforeAll(async () => {
  db = await newDatabase();
  await prepareDatabase(db, { retention: 30 * DAY, bodyRetention: DAY, concluded: ['DONE'] });
  search = createLogSearch(db);
  const newId = createIdSource().ofRequest;
  const entry = (id: string, receivedAt: number, n: number) => {
    const about = {
      _id: new Types.ObjectId(id),
      clientId: 'c',
      systemCode: SYSTEMS[n % SYSTEMS.length] as string,
      operation: n % 2 === 0 ? 'upsert' : 'status',
      externalId: `E-${n}`,
    };
    // A few failed: far apart, so that reading until they are found would be long.
    const ended =
      n % FAILED_EVERY === 7
        ? resultOf({ state: 'REFUSED', reason: REASONS[n % REASONS.length] as Reason })
        : { state: 'PERSISTED' as const, result: 'UPDATED' };
    return aLogEntry({ ...about, ...ended }, receivedAt);
  };
  const entries = Array.from({ length: BURST }, (_, n) => {
    const at = NOW - 3_600_000 + Math.floor(n / 2);
    return entry(newId(at), at, n);
  });
  // As the driver makes ids: its seconds, then anything.
  const old = Array.from({ length: 600 }, (_, n) => {
    const at = NOW - 2 * DAY + n * 200;
    const seconds = Math.floor(at / 1000).toString(16);
    return entry(seconds + randomBytes(8).toString('hex'), at, n);
  });
  const all = [...old, ...entries];
  const collection = nativeCollection<LogEntry>(entryModel(db));
  for (let at = 0; at < all.length; at += 3_000) {
    await collection.insertMany(all.slice(at, at + 3_000));
  }
  ids.push(...all.map(({ _id }) => String(_id)).sort());
});
afterAll(() => dropDatabase(db));

const idsOf = async (entries: AsyncIterable<LogEntry>) => {
  const found: string[] = [];
  for await (const { _id } of entries) found.push(String(_id));
  return found;
};

test.each([true, false])('all of it, across systems, oldest first: %s', async (oldestFirst) => {
  const found = await idsOf(search.all({}, { oldestFirst }));
  expect(found).toHaveLength(ids.length);
  expect(found).toEqual(oldestFirst ? ids : [...ids].reverse());
});

test('since a moment, and of one system', async () => {
  const since = NOW - 3_600_000 + 1_000;
  const found = await idsOf(search.all({ from: since }, { oldestFirst: true }));
  expect(found).toEqual(ids.slice(600 + 2_000));
  let ofOne = 0;
  for await (const { systemCode } of search.all({ systemCode: 'B' })) {
    expect(systemCode).toBe('B');
    ofOne += 1;
  }
  expect(ofOne).toBe(ids.length / SYSTEMS.length);
});

test('pages end, also over ids of the driver', async () => {
  const seen = new Set<string>();
  let after: string | undefined;
  let pages = 0;
  do {
    const page = await search.page({ systemCode: 'A', to: NOW - DAY }, { limit: 50, after });
    for (const { _id } of page.entries) seen.add(String(_id));
    after = page.next;
    pages += 1;
  } while (after !== undefined && pages < 50);
  expect([seen.size, pages]).toEqual([200, 4]);
});

test('a filter that no index answers ends its page after a bounded look, and goes on', async () => {
  const filter = { systemCode: 'A', operation: 'delete' };
  const bounded = createLogSearch(db, 1_000);
  const first = await bounded.page(filter, { limit: 10 });
  expect(first).toEqual({ entries: [], next: expect.any(String) });
  const counted = await bounded.count({ systemCode: 'A', operation: 'upsert' }, 10_000);
  expect(counted.exact).toBe(false);
  expect(await search.count({ systemCode: 'A' }, 10_000)).toEqual({
    value: ids.length / SYSTEMS.length,
    exact: true,
  });
  expect(await search.count({ systemCode: 'A' }, 100)).toEqual({ value: 100, exact: false });
});

test.each<[string, LogFilter]>([
  ['the newest of all', {}],
  ['of one system', { systemCode: 'A' }],
  ['of a system that has none', { systemCode: 'NONE' }],
  ['of one matter', { systemCode: 'A', externalId: 'E-0' }],
  ['of one result', { systemCode: 'A', result: 'UPDATED' }],
  ['of a result that none came to', { systemCode: 'A', result: 'CREATED' }],
  ['that failed', { systemCode: 'A', failed: true }],
  ['of two results', { systemCode: 'A', result: ['UPDATED', 'UNKNOWN_USER'] }],
  ['of one state, across systems', { state: 'QUEUED' }],
  ['of one operation, in a window', { operation: 'delete', from: NOW - DAY }],
])('each command looks at a bounded part of the log: %s', async (_, filter) => {
  await db.db?.command({ profile: 2 });
  await search.page(filter, { limit: 50 });
  await search.page(filter, { limit: 50, oldestFirst: true });
  await db.db?.command({ profile: 0 });
  const profile = db.collection('system.profile');
  const reads = await profile.find({ 'command.find': 'push_log' }).toArray();
  await profile.drop();
  expect(reads.length).toBeGreaterThan(1);
  for (const { keysExamined, docsExamined, hasSortStage } of reads) {
    expect(hasSortStage).toBeUndefined();
    expect(docsExamined).toBeLessThanOrEqual(1_001);
    // The merged range of each reason is looked into once, and for the bounds of the window.
    expect(keysExamined).toBeLessThanOrEqual(1_001 + 2 * ALL_REASONS.length);
  }
});

test('one request is found by its id alone', async () => {
  const requestId = ids[700] as string;
  expect((await search.page({ requestId }, { limit: 5 })).entries).toHaveLength(1);
  expect((await search.page({ requestId, systemCode: 'NONE' }, { limit: 5 })).entries).toEqual([]);
  expect((await search.page({ requestId, to: NOW - DAY }, { limit: 5 })).entries).toEqual([]);
});

test('what failed is found in one page, however rare it is, newest first', async () => {
  const failed = { systemCode: 'A', failed: true };
  const inOrder = await search.page(failed, { limit: 100 });
  expect(inOrder.next).toBeUndefined();
  const found = inOrder.entries.map(({ _id }) => String(_id));
  expect(found.length).toBeGreaterThan(3);
  expect(found).toEqual([...found].sort().reverse());
  expect(inOrder.entries.every(({ state }) => state === 'REFUSED')).toBe(true);
  const both = await search.page({ systemCode: 'A', result: REASONS }, { limit: 100 });
  expect(both.entries.map(({ _id }) => String(_id))).toEqual(found);
  const one = await search.count({ systemCode: 'A', result: [REASONS[0] as string] }, 100);
  const other = await search.count({ ...failed, result: REASONS[1] as string }, 100);
  expect(one.value + other.value).toBe(found.length);
  expect(await search.count(failed, 100)).toEqual({ value: found.length, exact: true });
  const ofOne = await search.page({ ...failed, operation: 'status' }, { limit: 100 });
  expect(ofOne.entries.every(({ operation }) => operation === 'status')).toBe(true);
});
