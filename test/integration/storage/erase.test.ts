/** An erasure on a large log: small commands, and what a failed run erased is recorded and stays erased. */
import { type Connection, Types } from 'mongoose';
import { nativeCollection } from '../../../src/infra/mongo';
import { auditModel } from '../../../src/storage/audit';
import { matterModel } from '../../../src/storage/ledger/matters';
import {
  bodyModel,
  entryModel,
  type LogEntry,
  type LoggedBody,
} from '../../../src/storage/push-log/entry';
import { matterctl, withoutProgress } from '../../support/cli-tool';
import { dropDatabase, newDatabase } from '../../support/database';
import { seedLedger } from '../../support/ledger-seed';
import { aLogEntry } from '../../support/log-entries';
import { openDatabase, testServers, withDatabase } from '../../support/service';

const NAME = 'zhang-san';
/** More than two batches of each. */
const MATTERS = 2_100;
const ENTRIES = 2_100;
const BODIES = 210;
/** Documents that one command may read. */
const BATCH = 1_000;

let db: Connection;
let url: string;
beforeEach(async () => {
  url = withDatabase(testServers().mongoUrl, `t-erase-${new Types.ObjectId()}`);
  db = await openDatabase(url);
});
afterEach(() => dropDatabase(db));

const erase = (...args: string[]) =>
  matterctl(['erase', '--user', NAME, '--operator', 'ann', ...args], { env: { MONGO_URL: url } });
const counts = async (...args: string[]) => {
  const { exitCode, stdout, stderr } = await erase('--json', ...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) });
  const { matters, entries, bodies } = JSON.parse(stdout);
  return { matters, entries, bodies };
};
const trail = async () => (await auditModel(db).find().sort({ _id: 1 }).lean()).map(withoutTimes);
const withoutTimes = ({
  outcome,
  result,
  error,
}: { [Name in 'outcome' | 'result' | 'error']: unknown }) => ({
  ...{ outcome, result, error },
});

/** The entry at index n. */
type Make = (n: number) => Partial<LogEntry>;

async function seed(make: Make = () => ({})): Promise<void> {
  await seedLedger(db, MATTERS, (n) => ({
    ...{ externalId: `M-${n}`, pastHandlers: n % 3 === 0 ? [NAME, 'bob'] : ['bob'] },
  }));
  const changes = [{ field: 'parties', added: [`ASSIGNEE ${NAME}`, 'CC bob'] }];
  const entries = Array.from({ length: ENTRIES }, (_, n) => aLogEntry({ changes, ...make(n) }));
  await nativeCollection<LogEntry>(entryModel(db)).insertMany(entries);
  const bodies = entries.slice(0, BODIES).map(({ _id }, n) => ({
    ...{ _id, receivedAt: new Date(), body: Buffer.from(n % 2 ? `of ${NAME}` : 'of nobody') },
  }));
  await nativeCollection<LoggedBody>(bodyModel(db)).insertMany(bodies);
}

test('no command reads more than a batch, in a dry run and in a real one', async () => {
  await seed();
  const expected = { matters: MATTERS / 3, entries: ENTRIES, bodies: BODIES / 2 };
  await db.db?.command({ profile: 2 });
  expect(await counts('--dry-run')).toEqual(expected);
  expect(await counts()).toEqual(expected);
  await db.db?.command({ profile: 0 });
  const commands = await db.collection('system.profile').find().toArray();
  const read = (docsExamined: unknown) => (typeof docsExamined === 'number' ? docsExamined : 0);
  const most = Math.max(...commands.map(({ docsExamined }) => read(docsExamined)));
  // Fewer would mean that the profile has no commands of the erasure.
  expect(most).toBe(BATCH);
  expect(await counts('--dry-run')).toEqual({ matters: 0, entries: 0, bodies: 0 });
});

test('a failed run records what it erased, and the next run erases the remaining data', async () => {
  await seed((n) => (n === 1_500 ? { bodyHash: 'rejected' } : {}));
  const allow = (validator: object) => db.db?.command({ collMod: 'push_log', validator });
  await allow({ bodyHash: { $ne: 'rejected' } });
  const { exitCode, stderr } = withoutProgress(await erase());
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^matterctl: the database failed: Document failed validation/),
  });
  await allow({});
  const done = { matters: MATTERS / 3, entries: BATCH, bodies: 0 };
  expect(await trail()).toEqual([
    { outcome: 'FAILED', result: done, error: expect.stringContaining('failed validation') },
  ]);
  // The command that failed may have changed some of its entries.
  const remaining = await counts();
  expect(remaining).toMatchObject({ matters: 0, bodies: BODIES / 2 });
  expect(remaining.entries).toBeGreaterThan(BATCH / 10);
  expect(remaining.entries).toBeLessThanOrEqual(ENTRIES - BATCH);
  const changes = await entryModel(db).distinct('changes.added');
  expect(changes).toEqual(['CC bob']);
  expect(await matterModel(db).distinct('pastHandlers')).toEqual(['bob']);
});

test('an error that quotes the command does not contain the name', async () => {
  // Without indexes: the database then quotes the query.
  const bare = await newDatabase();
  url = withDatabase(testServers().mongoUrl, bare.name);
  await seedLedger(bare, 1, () => ({ pastHandlers: [NAME] }));
  const { exitCode, stderr } = await erase();
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/pastHandlers.*\*\*\*.*hint/),
  });
  const entries = await auditModel(bare).find().lean();
  await dropDatabase(bare);
  expect(entries).toMatchObject([{ outcome: 'FAILED', error: expect.stringContaining('***') }]);
  expect(stderr + JSON.stringify(entries)).not.toContain(NAME);
});
