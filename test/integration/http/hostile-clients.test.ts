/**
 * The client directory of the web process. An unknown id costs as much as a known one. A broken record
 * harms no other client. A change by an operator takes effect within a second.
 */
import type { Connection } from 'mongoose';
import pino from 'pino';
import { createClientDirectory } from '../../../src/storage/directory';
import { type ClientRecord, clientModel } from '../../../src/storage/directory/client-model';
import { createKeyRing, type KeyRing, mintSecret } from '../../../src/storage/directory/sealing';
import { dropDatabase, newDatabase } from '../../support/database';
import { sink } from '../../support/sink';

const ring = createKeyRing([`t:${Buffer.alloc(32, 3).toString('base64')}`]);
const START = 1_800_000_000_000;

let db: Connection;
beforeAll(async () => {
  db = await newDatabase();
});
afterAll(() => dropDatabase(db));
beforeEach(() => clientModel(db).deleteMany({}));
afterEach(() => jest.restoreAllMocks());

/** A client with one secret, stored. @returns the plain secret */
async function add(clientId: string, changes: Partial<ClientRecord> = {}): Promise<string> {
  const { secret, stored } = mintSecret(clientId, ring, START);
  await clientModel(db).create({
    _id: clientId,
    type: 'CONFIDENTIAL',
    systemCode: 'TEST',
    enabled: true,
    secrets: [stored],
    createdAt: new Date(START),
    ...changes,
  });
  return secret;
}

function directory(keyRing: KeyRing = ring) {
  const clock = { now: START };
  const log = sink();
  const reads = jest.spyOn(clientModel(db), 'find');
  const logger = pino({ level: 'error' }, log.stream);
  const clients = createClientDirectory(db, keyRing, () => clock.now, logger);
  return { clock, log, reads, ...clients };
}

test('a thousand ids that nobody has, and known ones among them, cost one read a second', async () => {
  const secret = await add('known');
  const { find, reads, clock } = directory();
  const ids = Array.from({ length: 1_000 }, (_, n) => (n % 100 === 50 ? 'known' : `stranger-${n}`));
  const found = await Promise.all(ids.map((id) => find(id)));
  expect(found.filter(Boolean)).toHaveLength(10);
  expect(found[50]?.secrets.map((one) => one.secret)).toEqual([secret]);
  for (const id of ids.slice(0, 100)) await find(id);
  expect(reads).toHaveBeenCalledTimes(1);
  clock.now += 1_000;
  for (const id of ids.slice(0, 100)) await find(id);
  expect(reads).toHaveBeenCalledTimes(2);
});

test('a flood of rejections makes the clients be read twenty times a second, not once each', async () => {
  await add('known');
  const { findFresh, reads, clock } = directory();
  for (let n = 0; n < 1_000; n += 1) {
    expect(await findFresh(`stranger-${n}`)).toBeUndefined();
    clock.now += 1;
  }
  // Five of the burst, and then a fifth of the time at most; the clock stands still in a reading.
  expect(reads.mock.calls.length).toBeLessThanOrEqual(26);
  expect(reads.mock.calls.length).toBeGreaterThanOrEqual(2);
});

test('clients that cannot be read are logged in folded lines that name all of them', async () => {
  const broken = ['broken-1', 'broken-2', 'broken-3'];
  await add('known');
  for (const clientId of broken) {
    await add(clientId);
    await clientModel(db).collection.updateOne(
      { _id: clientId as never },
      { $set: { limit: { rate: 'fast' } } },
    );
  }
  const { find, log, clock, reads } = directory();
  for (let n = 0; n < 40; n += 1) {
    clock.now += 1_000;
    expect(await find('known')).toBeDefined();
    expect(await find('broken-1')).toBeUndefined();
  }
  expect(reads.mock.calls.length).toBeGreaterThanOrEqual(40);
  const lines = log
    .text()
    .split('\n')
    .filter((line) => line.includes('could not read a client record'));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(40);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ clients: 3, clientIds: broken });
});

test('nothing is read while nobody asks', () => {
  expect(directory().reads).not.toHaveBeenCalled();
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])(
  'the id %j is nobody',
  async (id) => {
    await add('known');
    expect(await directory().find(id)).toBeUndefined();
  },
);

test('what an operator changes is known after a second: created, disabled, rotated, removed', async () => {
  const model = clientModel(db);
  const { find, clock } = directory();
  const later = (id: string) => {
    clock.now += 1_000;
    return find(id);
  };
  expect(await find('erp')).toBeUndefined();
  const secret = await add('erp');
  expect(await find('erp')).toBeUndefined();
  expect(await later('erp')).toMatchObject({ enabled: true, secrets: [{ secret }] });
  await model.updateOne({ _id: 'erp' }, { $set: { enabled: false } });
  expect(await later('erp')).toMatchObject({ enabled: false });
  const next = mintSecret('erp', ring, START);
  const { secrets = [] } = (await model.findById('erp').lean()) ?? {};
  const retiring = { ...secrets[0], expiresAt: new Date(clock.now + 1_500) };
  await model.updateOne({ _id: 'erp' }, { $set: { secrets: [next.stored, retiring] } });
  expect(await later('erp')).toMatchObject({ secrets: [{ secret: next.secret }, { secret }] });
  expect((await later('erp'))?.secrets).toEqual([{ id: next.stored.id, secret: next.secret }]);
  await model.deleteOne({ _id: 'erp' });
  expect(await later('erp')).toBeUndefined();
});

test('a client of this moment is found where it is looked up anew, and who asks together shares a reading', async () => {
  const { find, findFresh, clock, reads } = directory();
  expect(await find('erp')).toBeUndefined();
  const secret = await add('erp');
  clock.now += 1;
  expect(await find('erp')).toBeUndefined();
  const found = await Promise.all(['erp', 'erp', 'nobody'].map(findFresh));
  expect(found[0]).toMatchObject({ secrets: [{ secret }] });
  expect(reads).toHaveBeenCalledTimes(2);
});

test('a secret is opened once, and again only when it changed', async () => {
  await add('erp');
  const open = jest.fn(ring.open);
  const { find, clock } = directory({ ...ring, open });
  for (let second = 0; second < 5; second += 1) {
    expect((await find('erp'))?.secrets).toHaveLength(1);
    clock.now += 1_000;
  }
  expect(open).toHaveBeenCalledTimes(1);
  const { secret, stored } = mintSecret('erp', ring, START);
  await clientModel(db).updateOne({ _id: 'erp' }, { $set: { secrets: [stored] } });
  expect(await find('erp')).toMatchObject({ secrets: [{ secret }] });
  expect(open).toHaveBeenCalledTimes(2);
});

test("another client's sealed secret is of no use, also where that one was opened before", async () => {
  await add('victim');
  const { secrets } = (await clientModel(db).findById('victim').lean()) ?? {};
  await add('thief', { secrets });
  const { find, log } = directory();
  expect((await find('victim'))?.secrets).toHaveLength(1);
  expect(await find('thief')).toMatchObject({ enabled: true, secrets: [] });
  expect(log.text()).toContain('could not decrypt a secret');
});

test('a record that was written by hand and is broken harms no other client', async () => {
  const secret = await add('whole');
  await clientModel(db).collection.insertOne({ _id: 'broken', type: 'CONFIDENTIAL' } as never);
  const { find, log } = directory();
  expect(await find('whole')).toMatchObject({ secrets: [{ secret }] });
  expect(await find('broken')).toBeUndefined();
  expect(log.text()).toContain('could not read a client record');
});

test('a failed read is told to those who wait, and the next one may succeed', async () => {
  await add('erp');
  const { find, reads } = directory();
  reads.mockImplementationOnce(() => {
    throw new Error('no database');
  });
  const both = await Promise.allSettled([find('erp'), find('nobody')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await find('erp')).toMatchObject({ clientId: 'erp' });
});

test('beyond 10,000 clients the log says so, and the oldest are known', async () => {
  const filler = Array.from({ length: 10_000 }, (_, n) => ({
    _id: `c-${n}`,
    type: 'PUBLIC' as const,
    systemCode: null,
    enabled: true,
    secrets: [],
    createdAt: new Date(START + 1),
  }));
  await clientModel(db).collection.insertMany(filler as never);
  await add('oldest');
  await add('a-younger-one', { createdAt: new Date(START + 2) });
  const { find, log } = directory();
  expect(await find('oldest')).toBeDefined();
  expect(await find('a-younger-one')).toBeUndefined();
  expect(log.text()).toContain('too many clients');
});
