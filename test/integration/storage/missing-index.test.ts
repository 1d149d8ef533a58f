/** What a search reports where the index that it names is missing: the server's own words. */
import type { Connection } from 'mongoose';
import { nativeCollection } from '../../../src/infra/mongo';
import { matterModel } from '../../../src/storage/ledger/matters';
import { createSearchMatters } from '../../../src/storage/ledger/search-matters';
import { dropDatabase, newDatabase } from '../../support/database';

let db: Connection;
beforeAll(async () => {
  db = await newDatabase();
  await matterModel(db).createCollection();
});
afterAll(() => dropDatabase(db));

const PREFIXES = [
  'PR-',
  '采购-',
  '请'.repeat(128),
  `a${'请'.repeat(127)}`,
  '\u{10ffff}'.repeat(64),
];
test.each(PREFIXES)(
  'an index that is missing is named, whatever is searched for: %s',
  async (externalIdPrefix) => {
    const search = createSearchMatters(nativeCollection(matterModel(db)));
    const options = { newestFirst: false, limit: 10 };
    const failure = await search('TEST', { externalIdPrefix }, options).catch(String);
    expect(failure).toMatch(
      /^MongoServerError: [\s\S]*hint provided does not correspond to an existing/,
    );
  },
);
