/** The release step: creates the schema, and can be repeated at any time. */
import type { Connection } from 'mongoose';
import { nativeCollection } from '../../../src/infra/mongo';
import { auditModel } from '../../../src/storage/audit';
import { importUsers } from '../../../src/storage/directory/user-admin';
import { findSimilarUsers, userModel } from '../../../src/storage/directory/user-model';
import { matterModel } from '../../../src/storage/ledger/matters';
import { bodyModel, entryModel } from '../../../src/storage/push-log/entry';
import { findMissingIndexes, prepareDatabase } from '../../../src/storage/schema';
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

test('a login is suggested for one that differs only in case or surrounding blanks', async () => {
  const logins = ['Li.Lei', 'Ünal.Öz', 'ＨＡＮ', '\u3000wang\u3000'];
  await prepareDatabase(db, SETTINGS);
  await importUsers(
    db,
    logins.map((username) => ({ username, displayName: username })),
  );
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
