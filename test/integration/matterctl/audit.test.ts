/** The audit trail: no change by matterctl without an entry, none with a secret in it. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mongoose';
import { connectMongo } from '../../../src/infra/mongo';
import { type AuditEntry, auditModel, createAuditTrail } from '../../../src/storage/audit';
import { clientModel } from '../../../src/storage/directory/client-model';
import { userModel } from '../../../src/storage/directory/user-model';
import { prepareDatabase } from '../../../src/storage/schema';
import { matterctl } from '../../support/cli-tool';
import { documentsOf } from '../../support/hostile-search';
import { testServers, withDatabase, withPatience } from '../../support/service';

const MASTER = Buffer.from('MARK-master-key-0123456789abcdef').toString('base64');
const name = `t-${randomBytes(5).toString('hex')}`;
const MONGO_URL = withPatience(withDatabase(testServers().mongoUrl, name));
const redis = { REDIS_URL: testServers().redisUrl, REDIS_NAMESPACE: name };
const env = { MONGO_URL, SECRET_KEYS: `k1:${MASTER}`, ...redis };
const USER_HASH = createHash('sha256').update('li.lei').digest('hex');
let db: Connection;
let folder: string;

beforeAll(async () => {
  db = await connectMongo(MONGO_URL);
  await db.dropDatabase();
  await prepareDatabase(db, { retention: 86_400_000, bodyRetention: 0, concluded: ['DONE'] });
  folder = await mkdtemp(join(tmpdir(), 'matterctl-'));
});
afterAll(async () => {
  await db.dropDatabase();
  await db.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  await auditModel(db).deleteMany({});
  await clientModel(db).deleteMany({});
  await userModel(db).deleteMany({});
});

const run = (...args: string[]) => matterctl(args, { env });
type Shown = Omit<AuditEntry, '_id' | 'at' | 'endedAt'> & { at: string; endedAt: string | null };
const audit = async (...args: string[]): Promise<Shown[]> => {
  const { stdout } = await run('audit', '--json', ...args);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};
const csv = async () => {
  const file = join(folder, 'users.csv');
  await writeFile(file, 'username,displayName\nli.lei,李雷\n');
  return file;
};
const create = (id: string, ...more: string[]) =>
  run('client', 'create', '--id', id, '--system-code', 'OA', '--json', ...more);

/** The commands that ask who does it. */
async function changing(path: readonly string[] = []): Promise<string[]> {
  const { stdout } = await run(...path, '--help');
  const [, listed = ''] = stdout.split('\nCommands:\n');
  const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name);
  // `audit` asks for the operator whose entries are wanted.
  const asked = names.filter((name) => !['help', 'audit'].includes(name));
  const below = asked.map((name) => changing([...path, name]));
  const here = stdout.includes('--operator <name>') && listed === '' ? [path.join(' ')] : [];
  return [...here, ...(await Promise.all(below)).flat()];
}

test('each command that changes something leaves an entry of who, what, to whom, and what came of it', async () => {
  const by = ['--operator', '王五'];
  const made = JSON.parse((await create('oa', ...by)).stdout);
  await run('client', 'limit', 'oa', '--rate', '5', ...by);
  await run('client', 'disable', 'oa', ...by);
  await run('client', 'enable', 'oa', ...by);
  const rotated = JSON.parse((await run('client', 'rotate', 'oa', '--json', ...by)).stdout);
  const link = ['client', 'console', 'oa', '--ttl', '8h', '--url', 'http://push.test'];
  const { keyId, endsAt, link: address } = JSON.parse((await run(...link, '--json', ...by)).stdout);
  await run('client', 'revoke', 'oa', keyId, ...by);
  await run('client', 'reseal', ...by);
  await run('queue', 'pause', 'oa', '--reason', '月末结账', ...by);
  await run('queue', 'resume', 'oa', ...by);
  await run('queue', 'unpause', ...by);
  await run('user', 'import', await csv(), ...by);
  await run('user', 'disable', 'li.lei', ...by);
  await run('user', 'enable', 'li.lei', ...by);
  await run('erase', '--user', 'li.lei', ...by);
  const entries = (await audit()).reverse();
  const told = entries.map(({ command, subject, details, result }) => [
    command,
    subject,
    details,
    result,
  ]);
  const secretId = expect.stringMatching(/^[0-9a-f]{12}$/);
  const { oldSecretEndsAt } = rotated;
  expect(told).toEqual([
    ['client create', 'oa', { systemCode: 'OA', type: 'CONFIDENTIAL' }, { secretId }],
    ['client limit', 'oa', { rate: 5 }, { limit: { rate: 5 } }],
    ['client disable', 'oa', {}, {}],
    ['client enable', 'oa', {}, {}],
    ['client rotate', 'oa', { overlapSeconds: 86_400 }, { secretId, oldSecretEndsAt }],
    [
      ...['client console', 'oa', { ttlSeconds: 28_800, scopes: ['query'], bodies: true }],
      { secretId: keyId, endsAt },
    ],
    ['client revoke', 'oa', { secretId: keyId }, { revoked: [keyId] }],
    ['client reseal', null, { keyId: 'k1' }, { keyId: 'k1', resealed: 0, left: {} }],
    ['queue pause', 'oa', { reason: '月末结账' }, {}],
    ['queue resume', 'oa', {}, {}],
    ['queue unpause', name, {}, {}],
    ['user import', 'users.csv', { users: 1 }, { created: 1, updated: 0 }],
    ['user disable', 'li.lei', { users: 1, usernames: ['li.lei'] }, { changed: 1 }],
    ['user enable', 'li.lei', { users: 1, usernames: ['li.lei'] }, { changed: 1 }],
    ['erase', null, { userHash: USER_HASH }, { matters: 0, entries: 0, bodies: 0 }],
  ]);
  const table = (await run('audit', '--limit', '20')).stdout;
  expect(table).toMatch(/endsAt="\d{4}-\d\d-\d\d \d\d:\d\d:[.\d]+"/);
  expect(table).not.toContain(endsAt);
  // The other one that does has tests of its own.
  const known = [...entries.map(({ command }) => command), 'log resend'];
  expect(known.sort()).toEqual((await changing()).sort());
  for (const entry of entries) {
    expect(entry).toMatchObject({
      operator: '王五',
      host: hostname(),
      outcome: 'DONE',
      error: null,
    });
    expect(Date.parse(String(entry.endedAt))).toBeGreaterThanOrEqual(Date.parse(entry.at));
  }

  const { secrets = [], queryKeys = [] } = (await clientModel(db).findById('oa').lean()) ?? {};
  const key = new URLSearchParams(new URL(address).hash.slice(1)).get('key');
  const trail = await documentsOf(db, 'audit');
  const sealed = [...secrets, ...queryKeys].map((one) => one.sealed);
  const marks = [made.secret, rotated.secret, String(key), MASTER, ...sealed];
  expect(marks).toHaveLength(7);
  expect(marks.filter((mark) => trail.includes(mark))).toEqual([]);
});

test('a command that fails leaves one too, with the reason; one that only reads leaves none', async () => {
  await create('oa');
  await auditModel(db).deleteMany({});
  const failing: readonly (readonly [string[], string])[] = [
    [['client', 'create', '--id', 'oa', '--system-code', 'OA'], 'exists already'],
    [['client', 'create', '--id', 'a b', '--system-code', 'OA'], 'no spaces'],
    [['client', 'limit', 'nobody', '--rate', '5'], 'there is no client nobody'],
    [['client', 'disable', 'nobody'], 'there is no client nobody'],
    [['client', 'rotate', 'nobody'], 'there is no client nobody'],
    [['queue', 'pause', 'nobody'], 'there is no client nobody'],
    [['queue', 'resume', 'nobody'], 'there is no client nobody'],
  ];
  for (const [args] of failing) expect((await run(...args)).exitCode).toBe(1);
  const entries = (await audit()).reverse();
  expect(entries.map(({ outcome }) => outcome)).toEqual(failing.map(() => 'FAILED'));
  for (const [n, [args, why]] of failing.entries()) {
    expect(entries[n]?.command).toBe(args.slice(0, 2).join(' '));
    expect(entries[n]?.error).toContain(why);
  }
  await run('client', 'list');
  await run('user', 'list');
  await run('log', 'query');
  await run('log', 'resend', '--from', '1h');
  expect(await audit()).toHaveLength(failing.length);
});

test('where the trail cannot be written, nothing is changed', async () => {
  await create('oa');
  const before = await documentsOf(db, 'clients');
  // The entries of this command collide from now on: none can be written.
  const { collection } = auditModel(db);
  await collection.createIndex({ host: 1 }, { name: 'in_the_way', unique: true });
  try {
    const commands = [
      ['client', 'create', '--id', 'crm', '--system-code', 'CRM'],
      ['client', 'limit', 'oa', '--rate', '5'],
      ['client', 'disable', 'oa'],
      ['client', 'rotate', 'oa'],
      ['client', 'reseal'],
      ['queue', 'pause', 'oa'],
      ['queue', 'resume', 'oa'],
      ['user', 'import', await csv()],
      ['log', 'resend', '--from', '1h', '--apply'],
    ];
    for (const args of commands) {
      const { exitCode, stderr } = await run(...args);
      expect([args, exitCode]).toEqual([args, 1]);
      expect(stderr).toContain('nothing was changed, because the audit trail cannot be written');
    }
  } finally {
    await collection.dropIndex('in_the_way');
  }
  expect(await documentsOf(db, 'clients')).toBe(before);
  expect(await userModel(db).countDocuments()).toBe(0);
});

test('a command that was killed stands there as begun', async () => {
  const about = { operator: 'li', host: 'h', command: 'client rotate', subject: 'oa' };
  await createAuditTrail(db, Date.now).begin({ ...about, details: { overlapSeconds: undefined } });
  expect(await audit()).toMatchObject([{ outcome: 'STARTED', endedAt: null, details: {} }]);
});

test('without --operator it is the user of the system', async () => {
  await create('oa');
  expect(await audit()).toMatchObject([{ operator: userInfo().username, host: hostname() }]);
});

test('is asked by operator, by client and by time, the newest first', async () => {
  let now = Date.UTC(2026, 0, 1);
  const trail = createAuditTrail(db, () => now);
  const act = async (operator: string, clientId: string) => {
    const about = { operator, host: 'h', command: 'client limit', subject: clientId, clientId };
    const end = await trail.begin({ ...about, details: {} });
    await end({ result: {}, error: null });
    now += 86_400_000;
  };
  await act('li', 'oa');
  await act('wang', 'oa');
  await act('li', 'crm');
  const found = async (...args: string[]) =>
    (await audit(...args)).map(({ operator, clientId }) => `${operator} ${clientId}`);
  expect(await found()).toEqual(['li crm', 'wang oa', 'li oa']);
  expect(await found('--operator', 'li')).toEqual(['li crm', 'li oa']);
  expect(await found('--client', 'oa')).toEqual(['wang oa', 'li oa']);
  expect(await found('--client', 'oa', '--operator', 'li')).toEqual(['li oa']);
  expect(await found('--since', '2026-01-02T08:00')).toEqual(['li crm', 'wang oa']);
  expect(await found('--since', '2026-01-03', '--client', 'oa')).toEqual([]);
  expect(await found('--limit', '1')).toEqual(['li crm']);
  const { stdout, stderr } = await run('audit', '--limit', '2');
  expect(stderr).toContain('There are more than 2');
  expect(stdout).toMatch(/2026-01-03 08:00:00\.000 +li@h +client limit +crm +DONE/);
  expect(stdout).not.toContain('2026-01-01');
});

test.each([[' '], ['x'.repeat(65)], ['a\u0007b']])(
  'an operator is a name: not %j',
  async (text) => {
    const { exitCode, stderr } = await create('oa', '--operator', text);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('a name of 1 to 64 characters');
    expect(await clientModel(db).countDocuments()).toBe(0);
  },
);
