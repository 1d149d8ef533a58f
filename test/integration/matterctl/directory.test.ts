/** matterctl on a real database: clients, users, matters, and where it finds its servers. */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mongoose';
import pino from 'pino';
import type { Matter } from '../../../src/domain/matter';
import { connectMongo, nativeCollection } from '../../../src/infra/mongo';
import { createClientDirectory } from '../../../src/storage/directory';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterModel, toRecord } from '../../../src/storage/ledger/matters';
import { aMatter } from '../../support/builders';
import { matterctl } from '../../support/cli-tool';
import { testServers, withPatience } from '../../support/service';

const KEYS = `k1:${Buffer.alloc(32).toString('base64')}`;
const given = new URL(withPatience(testServers().mongoUrl));
given.pathname = '/cli_directory';
const env = { MONGO_URL: given.href, SECRET_KEYS: KEYS };
let connection: Connection;
let folder: string;

beforeAll(async () => {
  connection = await connectMongo(given.href);
  await connection.dropDatabase();
  folder = await mkdtemp(join(tmpdir(), 'matterctl-'));
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
  await rm(folder, { recursive: true });
});

const run = (...args: string[]) => matterctl(args, { env });
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
const secretsOf = async (clientId: string) => {
  const logger = pino({ level: 'silent' });
  const ring = createKeyRing([KEYS]);
  const found = await createClientDirectory(connection, ring, Date.now, logger).find(clientId);
  return found?.secrets.map(({ secret }) => secret);
};

describe('clients', () => {
  test('a secret is shown once, and is what verifies; after a rotation the old one goes on', async () => {
    const created = await run('client', 'create', '--id', 'erp', '--system-code', 'ERP', '--json');
    expect(created.stderr).toContain('shown only now');
    const { secret } = JSON.parse(created.stdout);
    expect(await secretsOf('erp')).toEqual([secret]);
    const rotated = await json('client', 'rotate', 'erp', '--overlap', '2h');
    expect(await secretsOf('erp')).toEqual([rotated.secret, secret]);
    expect(Date.parse(rotated.oldSecretEndsAt) - Date.now()).toBeGreaterThan(7_100_000);
    const listed = await run('client', 'list');
    expect(listed.stdout).toMatch(/erp +ERP +CONFIDENTIAL +enabled/);
    expect(listed.stdout).not.toContain(secret);
  });

  test('the list has 120 columns, also with long and wide names', async () => {
    const id = `long-${'x'.repeat(50)}`;
    const systemCode = `SYSTEM-${'X'.repeat(50)}`;
    await run('client', 'create', '--id', id, '--system-code', systemCode, '--json');
    await run('client', 'limit', id, '--rate', '1000000', '--burst', '1000000');
    const { stdout } = await run('client', 'list');
    expect(stdout).toMatch(/^long-x+… +SYSTEM-X+…/m);
    for (const line of stdout.split('\n')) {
      expect(line.trimEnd().replace(/\p{Script=Han}/gu, 'xx').length).toBeLessThanOrEqual(120);
    }
    expect(await json('client', 'list')).toContainEqual(
      expect.objectContaining({ clientId: id, systemCode }),
    );
  });

  test('a secret goes to a file that only its owner reads, and is not printed then', async () => {
    const [file, next] = [join(folder, 'hr.secret'), join(folder, 'hr.secret.next')];
    const create = ['client', 'create', '--id', 'hr', '--system-code', 'HR', '--secret-out', file];
    const created = await run(...create);
    const secret = (await readFile(file, 'utf8')).trim();
    expect(created).toMatchObject({ exitCode: 0, stderr: '' });
    expect(created.stdout).toMatch(/^secretFile +.*hr\.secret *$/m);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const rotated = await run('client', 'rotate', 'hr', '--secret-out', next);
    expect(await secretsOf('hr')).toEqual([(await readFile(next, 'utf8')).trim(), secret]);
    for (const { stdout, stderr } of [created, rotated]) {
      expect(stdout + stderr).not.toContain(secret);
      expect(stdout + stderr).not.toContain((await readFile(next, 'utf8')).trim());
    }
  });

  test('a file that is there is never written over, and a client that fails leaves none', async () => {
    const file = join(folder, 'there');
    await writeFile(file, 'precious');
    const create = (id: string, out: string, ...more: string[]) =>
      run('client', 'create', '--id', id, '--system-code', 'HR', '--secret-out', out, ...more);
    const rejected = await create('hr2', file);
    expect(rejected).toMatchObject({ exitCode: 2, stdout: '' });
    expect(rejected.stderr).toContain('is there already');
    expect(await readFile(file, 'utf8')).toBe('precious');
    expect(await json('client', 'list')).not.toContainEqual(
      expect.objectContaining({ clientId: 'hr2' }),
    );
    const none = join(folder, 'none.secret');
    expect((await create('erp', none)).stderr).toContain('exists already');
    await expect(stat(none)).rejects.toThrow('ENOENT');
    expect(await create('hr3', none, '--public')).toMatchObject({ exitCode: 2 });
  });

  test('can be disabled and enabled', async () => {
    await run('client', 'create', '--id', 'crm', '--system-code', 'CRM');
    await run('client', 'disable', 'crm');
    expect(await json('client', 'list')).toContainEqual(
      expect.objectContaining({ clientId: 'crm', enabled: false }),
    );
    expect(await json('client', 'enable', 'crm')).toEqual({ clientId: 'crm', enabled: true });
  });

  test('a PUBLIC one gets no secret, and needs no key ring', async () => {
    const args = ['client', 'create', '--id', 'spa', '--system-code', 'SPA', '--public', '--json'];
    const { stdout } = await matterctl(args, { env: { MONGO_URL: given.href, DATA_DIR: folder } });
    expect(JSON.parse(stdout)).toMatchObject({ type: 'PUBLIC', secret: null });
  });

  test.each([
    [
      ['client', 'create', '--id', 'erp', '--system-code', 'ERP'],
      1,
      'exists already; to replace its secret, use "client rotate"',
    ],
    [['client', 'create', '--id', 'a b', '--system-code', 'ERP'], 1, 'no spaces'],
    [['client', 'rotate', 'nobody'], 1, 'there is no client nobody'],
    [['client', 'rotate', 'spa'], 1, 'is PUBLIC'],
    [['client', 'rotate', 'erp', '--overlap', '1y'], 2, 'a number with s, m, h or d'],
    [['client', 'create', '--id', 'x'], 2, "required option '--system-code <code>'"],
    [['client', 'lisst'], 2, 'Did you mean list?'],
  ])('%j fails in one line', async (args, exitCode, message) => {
    const failed = await run(...args);
    expect(failed).toMatchObject({ exitCode, stdout: '' });
    expect(failed.stderr).toContain(message);
    expect(failed.stderr).not.toMatch(/\n +at /);
  });
});

describe('users', () => {
  test('all lines are imported, or none', async () => {
    const file = join(folder, 'users.csv');
    await writeFile(file, 'username,displayName\nli.lei,李雷\n,nobody\n');
    const failed = await run('user', 'import', file);
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain(`${file}:3: username is empty`);
    expect(await json('user', 'list')).toEqual([]);
    await writeFile(file, 'username,displayName\nli.lei,李雷\nhan.meimei,韩梅梅\n');
    expect(await json('user', 'import', file)).toEqual({
      created: 2,
      updated: 0,
      encoding: 'UTF-8',
    });
    await writeFile(file, 'username,displayName\nli.lei,Li Lei\n');
    expect((await run('user', 'import', file)).stdout).toBe(
      '1 users imported (UTF-8): 0 new, 1 there already; first: li.lei Li Lei\n',
    );
    expect(await json('user', 'list')).toEqual([
      { username: 'han.meimei', displayName: '韩梅梅', enabled: true },
      { username: 'li.lei', displayName: 'Li Lei', enabled: true },
    ]);
  });

  test('a file that is not there is told', async () => {
    const { exitCode, stderr } = await run('user', 'import', join(folder, 'none.csv'));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^matterctl: ENOENT.*none\.csv'\n$/);
  });
});

describe('matters', () => {
  const matter = (matterId: bigint, systemCode: string, more: Partial<Matter> = {}) =>
    aMatter({
      ...{ matterId, systemCode, externalId: `K-${matterId}`, title: '报销' },
      ...{ deadlineAt: Date.UTC(2026, 0, 31, 10), sourceUpdatedAt: Date.UTC(2026, 0, 1) },
      ...{ createdAt: Date.UTC(2026, 0, 2), updatedAt: Date.UTC(2026, 0, 3), revision: 2 },
      payloadJson: '{"a":1}',
      parties: [{ username: 'li.lei', partyRole: 'ASSIGNEE', displayName: '李雷', unread: true }],
      ...more,
    });
  const BIG = 9_007_199_254_740_993n;

  beforeAll(async () => {
    const matters = [matter(BIG, 'ERP'), matter(7n, 'ERP', { deleted: true }), matter(8n, 'CRM')];
    await nativeCollection(matterModel(connection)).insertMany(matters.map(toRecord));
  });

  test('are shown with the field names of the contract', async () => {
    expect(await json('matter', 'get', 'ERP', `K-${BIG}`)).toEqual({
      systemCode: 'ERP',
      externalId: `K-${BIG}`,
      matterId: String(BIG),
      matterType: 'TODO',
      title: '报销',
      summary: null,
      content: null,
      pcUrl: null,
      mobileUrl: null,
      bizType: null,
      priority: null,
      bizStatus: 'PENDING',
      phase: 'OPEN',
      deadlineAt: '2026-01-31T18:00:00',
      initiatorExtId: null,
      initiatorUsername: null,
      externalStatusCode: null,
      externalStatusLabel: null,
      sourceUpdatedAt: '2026-01-01T00:00:00.000Z',
      payloadJson: '{"a":1}',
      parties: [{ username: 'li.lei', partyRole: 'ASSIGNEE', displayName: '李雷', unread: true }],
      deleted: false,
      deletedAt: null,
      createdAt: '2026-01-02T00:00:00.000Z',
      updatedAt: '2026-01-03T00:00:00.000Z',
      revision: 2,
    });
    const table = await run('matter', 'get', 'ERP', `K-${BIG}`);
    expect(table.stdout).toContain('ASSIGNEE li.lei (李雷) unread');
    expect(table.stdout).toMatch(/deadlineAt +2026-01-31 18:00:00 \(Asia\/Shanghai\)/);
    expect(table.stdout).toMatch(/updatedAt +2026-01-03 08:00:00 \(Asia\/Shanghai\)/);
  });

  test('one that is absent is exit code 1', async () => {
    const { exitCode, stderr } = await run('matter', 'get', 'CRM', `K-${BIG}`);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: `matterctl: there is no matter CRM/K-${BIG}\n`,
    });
  });

  test('are exported in the order of their ids, all or of one system', async () => {
    const ids = async (...more: string[]) => {
      const { stdout } = await run('matter', 'export', ...more);
      return stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).matterId);
    };
    expect(await ids()).toEqual(['7', '8', String(BIG)]);
    expect(await ids('--system-code', 'ERP')).toEqual(['7', String(BIG)]);
    expect((await run('matter', 'export', '--system-code', 'NONE')).stdout).toBe('');
  });
});

describe('where the servers are', () => {
  const endpoints = async (pid: number, mongoUrl = given.href) => {
    const dataDir = join(folder, `.data`);
    await mkdir(dataDir, { recursive: true });
    const text = JSON.stringify({
      url: 'http://127.0.0.1:1',
      mongoUrl,
      redisUrl: '',
      pid,
    });
    await writeFile(join(dataDir, 'endpoints.json'), text);
    await writeFile(join(dataDir, 'secret-keys'), `${KEYS}\n`);
  };

  test('a running npm start is found, with its key ring', async () => {
    await endpoints(process.pid);
    const args = ['client', 'create', '--id', 'found', '--system-code', 'F', '--json'];
    const { exitCode, stdout } = await matterctl(args, { cwd: folder });
    expect(exitCode).toBe(0);
    expect(await secretsOf('found')).toEqual([JSON.parse(stdout).secret]);
  });

  test('what a killed npm start left behind is not believed', async () => {
    await endpoints(2 ** 22 + 1);
    const env = { DATA_DIR: join(folder, '.data') };
    const { exitCode, stderr } = await matterctl(['user', 'list'], { env });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^matterctl: no MONGO_URL and nothing is running here \(DATA_DIR: .*\): run npm start, or set MONGO_URL or MONGO_URL_FILE\n$/,
    );
  });

  test('--mongo-url goes before all of it', async () => {
    const { exitCode } = await matterctl(['user', 'list', '--mongo-url', given.href], {
      env: { MONGO_URL: 'mongodb://127.0.0.1:1/none' },
    });
    expect(exitCode).toBe(0);
  });

  test('a password is not taken from the command line, and not repeated', async () => {
    const [host] = given.host.split(',');
    for (const url of [
      `mongodb://u:hunter2@${host}/db`,
      `mongodb+srv://u:p%2Fhunter2@${host}/db`,
    ]) {
      const { exitCode, stderr } = await matterctl(['user', 'list', '--mongo-url', url]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^matterctl: --mongo-url must not hold a password: .*MONGO_URL.*\n$/);
      expect(stderr).not.toContain('hunter2');
    }
    const bad = await matterctl(['user', 'list', '--mongo-url', 'mongodb://h/db?w=1']);
    expect(bad).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('must not contain w=1'),
    });
  });

  test('--mongo-url-file names a file that holds it', async () => {
    const file = join(folder, 'mongo-url');
    await writeFile(file, `${given.href}\n`);
    const env = { MONGO_URL: 'mongodb://127.0.0.1:1/none' };
    const { exitCode } = await matterctl(['user', 'list', '--mongo-url-file', file], { env });
    expect(exitCode).toBe(0);
    await writeFile(file, 'mongodb://u:hunter2@h/');
    const bad = await matterctl(['user', 'list', '--mongo-url-file', file]);
    expect(bad).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^matterctl: what --mongo-url-file names must name the database/,
      ),
    });
    const none = await matterctl(['user', 'list', '--mongo-url-file', join(folder, 'none')]);
    expect(none.stderr).toMatch(/^matterctl: ENOENT.*\n$/);
  });

  test('a database that cannot be reached, and a bad key ring, are one line', async () => {
    const away = await matterctl(['user', 'list'], {
      env: { MONGO_URL: 'mongodb://u:hunter2@127.0.0.1:1/x' },
    });
    expect(away.stderr).toMatch(
      /^matterctl: the database at 127\.0\.0\.1:1 \(from MONGO_URL\) cannot be used: .*\n$/,
    );
    expect(away.stderr).not.toContain('hunter2');
    await endpoints(process.pid, 'mongodb://127.0.0.1:2/x');
    const started = await matterctl(['user', 'list'], { cwd: folder });
    expect(started.stderr).toMatch(
      /^matterctl: the database at 127\.0\.0\.1:2 \(of the npm start that runs here\) cannot be used: .*\n$/,
    );
    const args = ['client', 'rotate', 'erp'];
    const bad = await matterctl(args, { env: { ...env, SECRET_KEYS: 'short' } });
    expect(bad.stderr).toMatch(/^matterctl: .*SECRET_KEYS: must be id:base64 of 32 bytes\n$/);
  });
});

test('help and version are no failures', async () => {
  expect(await run('--version')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^\d+\.\d+/),
  });
  expect(await run('push', '--help')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('--secret-file'),
  });
});
