/** The release step: brings an older database up to date, and may run again at any time. */
import { type Connection, Types } from 'mongoose';
import { auditModel } from '../../../src/storage/audit/audit-model';
import { findSimilarUsers } from '../../../src/storage/directory/similar-users';
import { userModel } from '../../../src/storage/directory/user-model';
import { prepareDatabase } from '../../../src/storage/indexes';
import { matterModel } from '../../../src/storage/ledger/matter-model';
import { nativeCollection } from '../../../src/storage/mongo';
import { bodyModel } from '../../../src/storage/push-log/body-model';
import { entryModel } from '../../../src/storage/push-log/entry-model';
import type { LogFilter } from '../../../src/storage/push-log/log-filter';
import { createLogSearch } from '../../../src/storage/push-log/search';
import { findMissingIndexes } from '../../../src/storage/schema';
import { dropDatabase, newDatabase } from '../../support/database';

const DAY = 86_400_000;
const SETTINGS = { retention: 30 * DAY, bodyRetention: 7 * DAY, concluded: ['DONE'] };

let db: Connection;
beforeAll(async () => {
  db = await newDatabase();
});
afterAll(() => dropDatabase(db));

const expiryOf = async (collection: ReturnType<typeof entryModel>['collection']) =>
  (await collection.indexes()).find(({ name }) => name === 'retention')?.expireAfterSeconds;

test('entries of the log’s first form are found by what they came to, and its indexes go', async () => {
  const { collection } = entryModel(db);
  await collection.createIndex({ clientId: 1, _id: -1 }, { name: 'client_newest' });
  await collection.createIndex({ keyId: 1, _id: 1 }, { name: 'key_reuse' });
  const entry = (more: object) => {
    const common = {
      clientId: 'c',
      systemCode: 'OLD',
      operation: 'upsert',
      receivedAt: new Date(),
    };
    return { _id: new Types.ObjectId(), ...common, ...more };
  };
  await collection.insertMany([
    entry({ state: 'PERSISTED', outcome: 'CREATED' }),
    entry({ state: 'REFUSED', reason: 'MATTER_NOT_FOUND' }),
    entry({ state: 'EXPIRED' }),
    entry({ state: 'QUEUED' }),
  ]);
  await prepareDatabase(db, SETTINGS);
  const search = createLogSearch(db);
  for (const result of ['CREATED', 'MATTER_NOT_FOUND', 'CONFIRMATION_TIMEOUT']) {
    const { entries } = await search.page({ systemCode: 'OLD', result }, { limit: 5 });
    expect(entries).toMatchObject([{ result }]);
  }
  const queued = await collection.findOne({ state: 'QUEUED' });
  expect(queued).not.toHaveProperty('result');
  const names = (await collection.indexes()).map(({ name }) => name);
  for (const gone of ['client_newest', 'key_reuse']) expect(names).not.toContain(gone);
});

test('links and fingerprints of log entries get their new names, and indexes of the old names go', async () => {
  const { collection } = entryModel(db);
  await collection.createIndex({ precedentKey: 1 }, { name: 'precedents', sparse: true });
  await collection.createIndex({ replayOf: 1 }, { name: 'replays', sparse: true });
  const [first, ...ids] = Array.from({ length: 3 }, () => new Types.ObjectId());
  const common = { clientId: 'c', systemCode: 'RENAMED', operation: 'upsert' };
  await collection.insertMany([
    { _id: ids[0], ...common, state: 'PERSISTED', precedentKey: 'digest', replayOf: first },
    { _id: ids[1], ...common, state: 'REPLAYED', origin: first },
  ]);
  expect(await prepareDatabase(db, SETTINGS)).toEqual(['push_log.precedents', 'push_log.replays']);
  expect(await collection.find({ systemCode: 'RENAMED' }).sort({ _id: 1 }).toArray()).toEqual([
    {
      ...{ _id: ids[0], ...common, state: 'PERSISTED' },
      ...{ idempotencyFingerprint: 'digest', resentFrom: first },
    },
    { _id: ids[1], ...common, state: 'REPLAYED', duplicateOf: first },
  ]);
  expect(await prepareDatabase(db, SETTINGS)).toEqual([]);
});

test('indexes that settlements and commits no longer touch are dropped, and named once', async () => {
  await entryModel(db).collection.createIndex({ state: 1, _id: 1 }, { name: 'states' });
  await matterModel(db).collection.createIndex({ _id: 1, revision: 1 }, { name: 'guard' });
  expect(await prepareDatabase(db, SETTINGS)).toEqual(['push_log.states', 'matters.guard']);
  expect(await prepareDatabase(db, SETTINGS)).toEqual([]);
  for (const model of [entryModel(db), matterModel(db)]) {
    const names = (await model.collection.indexes()).map(({ name }) => name);
    expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(states|guard)$/)]));
  }
});

test('failures of earlier versions are found by their reasons, those too that are written beside the first run', async () => {
  const { collection } = entryModel(db);
  await collection.createIndex({ systemCode: 1, result: 1, _id: -1 }, { name: 'results' });
  await collection.createIndex({ systemCode: 1, idempotencyKey: 1, _id: -1 }, { name: 'key_uses' });
  const common = { clientId: 'c', systemCode: 'MARKED', operation: 'upsert' };
  const failure = (state: string, result: string) => {
    return { _id: new Types.ObjectId(), ...common, state, result };
  };
  const fails = async (filter: LogFilter) => {
    const page = await createLogSearch(db).page({ systemCode: 'MARKED', ...filter }, { limit: 9 });
    return page.entries.map(({ result }) => result).sort();
  };
  await collection.insertMany([
    failure('REFUSED', 'MATTER_NOT_FOUND'),
    failure('EXPIRED', 'CONFIRMATION_TIMEOUT'),
    failure('PERSISTED', 'CREATED'),
  ]);
  // One that fails half-way is no first run.
  await expect(prepareDatabase(db, { ...SETTINGS, retention: -DAY })).rejects.toThrow();
  // Processes of the version before read along the old indexes until they are replaced.
  expect(await prepareDatabase(db, SETTINGS)).toEqual([]);
  expect(await fails({ failed: true })).toEqual(['CONFIRMATION_TIMEOUT', 'MATTER_NOT_FOUND']);
  expect(await fails({ result: 'CREATED' })).toEqual(['CREATED']);
  await collection.insertOne(failure('REFUSED', 'UNKNOWN_USER'));
  expect(await prepareDatabase(db, SETTINGS)).toEqual(['push_log.results', 'push_log.key_uses']);
  expect(await fails({ result: ['UNKNOWN_USER', 'MATTER_DELETED'] })).toEqual(['UNKNOWN_USER']);
  const unmarked = { state: 'PERSISTED', failure: { $exists: true } };
  expect(await collection.countDocuments(unmarked)).toBe(0);
  expect(await prepareDatabase(db, SETTINGS)).toEqual([]);
});

test('the phases of all matters are derived again where CONCLUDED_STATUSES changed, and not else', async () => {
  const matters = nativeCollection(matterModel(db));
  const spoil = async () => {
    const spoiled = { $set: { externalId: 'M', bizStatus: 'DONE', phase: 'OPEN' as const } };
    await matters.updateOne({ _id: 1n, systemCode: 'PHASES' }, spoiled, { upsert: true });
  };
  const phaseAfter = async (concluded: string[]) => {
    await prepareDatabase(db, { ...SETTINGS, concluded });
    return (await matters.findOne({ _id: 1n }))?.phase;
  };
  await prepareDatabase(db, { ...SETTINGS, concluded: ['OVER'] });
  await spoil();
  expect(await phaseAfter(['DONE', 'OVER'])).toBe('CONCLUDED');
  // Once more, for what processes with the old setting wrote before they were gone.
  await spoil();
  expect(await phaseAfter(['OVER', 'DONE'])).toBe('CONCLUDED');
  await spoil();
  expect(await phaseAfter(['DONE', 'OVER'])).toBe('OPEN');
  expect(await phaseAfter(['DONE'])).toBe('CONCLUDED');
});

test('users of earlier versions are suggested for a login that differs only in case', async () => {
  const users = nativeCollection(userModel(db));
  const logins = ['Li.Lei', 'Ünal.Öz', 'ＨＡＮ', '\u3000wang\u3000'];
  await users.insertMany(logins.map((_id) => ({ _id, displayName: _id, enabled: true })));
  await prepareDatabase(db, SETTINGS);
  const meant = new Map([
    ['li.lei', 'Li.Lei'],
    ['ünal.öz', 'Ünal.Öz'],
    ['ｈａｎ', 'ＨＡＮ'],
    ['wang', '\u3000wang\u3000'],
  ]);
  expect(await findSimilarUsers(db, [...meant.keys()])).toEqual(meant);
});

test('without the index for suggestions pushes are accepted, and nothing is suggested', async () => {
  await prepareDatabase(db, SETTINGS);
  await nativeCollection(userModel(db)).dropIndex('folded');
  expect(await findMissingIndexes(db)).toEqual([]);
  expect(await findSimilarUsers(db, ['li.lei'])).toEqual(new Map());
});

test('the audit trail has an index for each way of asking, and is kept for good', async () => {
  await prepareDatabase(db, SETTINGS);
  const indexes = await auditModel(db).collection.indexes();
  const names = indexes.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['newest', 'operator_newest', 'client_newest']));
  expect(indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)).toEqual([]);
});

test('a changed retention replaces the old one; bodies never outlive their entries', async () => {
  const [log, bodies] = [entryModel(db).collection, bodyModel(db).collection];
  expect([await expiryOf(log), await expiryOf(bodies)]).toEqual([30 * 86_400, 7 * 86_400]);
  await db.db?.command({ profile: 2 });
  await prepareDatabase(db, { ...SETTINGS, retention: 2 * DAY });
  await db.db?.command({ profile: 0 });
  // In place: without its index the log would grow for as long as another one is made.
  const profile = db.collection('system.profile');
  expect(await profile.countDocuments({ 'command.collMod': 'push_log' })).toBe(1);
  expect(await profile.countDocuments({ 'command.dropIndexes': { $exists: true } })).toBe(0);
  expect([await expiryOf(log), await expiryOf(bodies)]).toEqual([2 * 86_400, 2 * 86_400]);
  await prepareDatabase(db, { ...SETTINGS, bodyRetention: 0 });
  expect(await expiryOf(bodies)).toBe(0);
});
