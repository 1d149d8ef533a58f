/** Users that many requests ask for at the same moment: read together, and not in one query without a bound. */
import type { Connection, mongo } from 'mongoose';
import { createUserDirectory, userModel } from '../../../src/storage/directory';
import { newDatabase } from '../../support/database';

const MOST_NAMES = 5_000;
let db: Connection;
/** Names of each query. */
const queries: number[] = [];

beforeAll(async () => {
  db = await newDatabase(true);
  await userModel(db).create({ _id: 'li.lei', displayName: '李雷' });
  db.getClient().on('commandStarted', ({ command }: mongo.CommandStartedEvent) => {
    if (command.find === 'users') queries.push(command.filter._id.$in.length);
  });
});
afterAll(async () => {
  await db?.dropDatabase();
  await db?.close();
});
beforeEach(() => {
  queries.length = 0;
});

const askAtOnce = (lists: number, names: number) => {
  const { unknown } = createUserDirectory(db, Date.now);
  const namesOf = (list: number) => Array.from({ length: names }, (_, n) => `u-${list}-${n}`);
  return Promise.all(
    Array.from({ length: lists }, (_, list) => unknown(['li.lei', ...namesOf(list)])),
  );
};

test('many short lists go in one query', async () => {
  const found = await askAtOnce(100, 3);
  expect(found.every((unknown) => unknown.length === 3)).toBe(true);
  expect(queries).toEqual([301]);
});

test('long ones go in several, each within its bound', async () => {
  const found = await askAtOnce(12, 2_000);
  expect(found.every((unknown) => unknown.length === 2_000)).toBe(true);
  expect(queries.length).toBeGreaterThan(1);
  expect(Math.max(...queries)).toBeLessThanOrEqual(MOST_NAMES);
});
