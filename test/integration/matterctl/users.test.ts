/** matterctl user: disabling, enabling, and a whole list that disables whoever left; each change in the audit trail. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { matterctl } from '../../support/cli-tool';
import { encode } from '../../support/encode';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';
import { until } from '../../support/wait';

let service: SharedService;
let folder: string;
beforeAll(async () => {
  service = await sharedService();
  folder = await mkdtemp(join(tmpdir(), 'matterctl-users-'));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const run = (...args: string[]) => matterctl(args, { env: service.env });
const listed = async () => JSON.parse((await run('user', 'list', '--json')).stdout);
const disabled = async () =>
  (await listed()).flatMap((user: { username: string; enabled: boolean }) =>
    user.enabled ? [] : [user.username],
  );
const audited = async () =>
  (await run('audit', '--json')).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
/** A file of so many users, and some more. */
const write = async (count: number, ...more: string[]) => {
  const names = Array.from({ length: count }, (_, n) => `user-${n},User ${n}\n`);
  const file = join(folder, 'users.csv');
  await writeFile(file, `username,displayName\n${[...names, ...more].join('')}`);
  return file;
};
const pushFor = (username: string) =>
  service.push('upsert', {
    ...{ matterType: 'TODO', externalId: 'U-1', title: 't' },
    parties: [{ username, partyRole: 'ASSIGNEE' }],
  });

beforeEach(async () => {
  await service.db.collection('users').deleteMany({});
  expect(await run('user', 'import', await write(20, 'ZhangSan,张三\n'))).toMatchObject({
    exitCode: 0,
  });
});

test('a disabled user cannot be named in a push, an enabled one can; both are audited', async () => {
  const { stdout } = await run('user', 'disable', 'user-1', 'user-2', 'user-2');
  expect(stdout).toBe('2 users disabled\n');
  expect(await disabled()).toEqual(['user-1', 'user-2']);
  await until(
    'the service to reject the disabled user',
    async () => (await pushFor('user-1')).reason === 'UNKNOWN_USER',
  );
  expect((await run('user', 'enable', 'user-1', 'user-3')).stdout).toBe(
    '1 users enabled; 1 were enabled already\n',
  );
  expect(await disabled()).toEqual(['user-2']);
  await until(
    'the service to accept the enabled user',
    async () => (await pushFor('user-1')).code === 0,
  );
  const [enable, disable] = await audited();
  expect(enable).toMatchObject({ command: 'user enable', outcome: 'DONE', result: { changed: 1 } });
  expect(disable).toMatchObject({
    ...{ command: 'user disable', subject: null, outcome: 'DONE', result: { changed: 2 } },
    details: { users: 2, usernames: ['user-1', 'user-2'] },
  });
});

test('one user that is not there, and nothing is changed; the one that is meant is suggested', async () => {
  const { exitCode, stderr } = await run('user', 'disable', 'user-1', 'zhangsan', 'nobody');
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    'matterctl: nothing was changed: there is no user zhangsan (did you mean ZhangSan?), nobody\n',
  );
  expect(await disabled()).toEqual([]);
  expect((await audited())[0]).toMatchObject({ command: 'user disable', outcome: 'FAILED' });
});

describe('a file that is the whole list', () => {
  test('disables whom it does not name, after saying how many that are', async () => {
    const file = await write(19, 'ZhangSan,张三\n', 'new,New\n');
    const dry = await run('user', 'import', file, '--disable-missing', '--dry-run');
    expect(dry).toMatchObject({ exitCode: 0 });
    expect(dry.stdout).toBe(
      [
        '1 users are new, 20 are there already (0 of them disabled, to be enabled)',
        '1 of 21 enabled users are not in the file, to be disabled: user-19',
        'Nothing was changed: this was a dry run.\n',
      ].join('\n'),
    );
    expect(await disabled()).toEqual([]);
    const { exitCode, stdout } = await run('user', 'import', file, '--disable-missing');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('1 new, 20 there already, 1 others disabled; first: user-0 User 0');
    expect(await disabled()).toEqual(['user-19']);
    const [entry] = await audited();
    expect(entry).toMatchObject({
      ...{ command: 'user import', subject: 'users.csv', outcome: 'DONE' },
      details: { users: 21, disableMissing: 1 },
      result: { created: 1, updated: 20, disabled: 1 },
    });
  });

  test('of which more than a tenth is missing needs a word more', async () => {
    const file = await write(18);
    const no = await run('user', 'import', file, '--disable-missing');
    expect(no.exitCode).toBe(1);
    expect(no.stdout).toContain('3 of 21 enabled users are not in the file');
    expect(no.stderr).toContain(
      '3 of 21 enabled users would be disabled; if the file is complete, give --yes',
    );
    expect(await disabled()).toEqual([]);
    expect((await run('user', 'import', file, '--disable-missing', '--yes')).exitCode).toBe(0);
    expect(await disabled()).toEqual(['ZhangSan', 'user-18', 'user-19']);
    // Who comes back is enabled again.
    const back = await run('user', 'import', await write(20), '--disable-missing', '--json');
    expect(JSON.parse(back.stdout)).toEqual({
      ...{ created: 0, updated: 20, disabled: 0, encoding: 'UTF-8' },
    });
    expect(await disabled()).toEqual(['ZhangSan']);
  });

  test('that names nobody disables nobody, whatever is said', async () => {
    const { exitCode, stderr } = await run(
      ...['user', 'import', await write(0), '--disable-missing', '--yes'],
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the file names no user');
    expect(await disabled()).toEqual([]);
  });
});

test('a file whose encoding is doubtful imports nobody, and names the line', async () => {
  const utf8 = Buffer.from('username,displayName\na,张三\nb,李四\nc,王五\n');
  const damaged = join(folder, 'damaged.csv');
  await writeFile(damaged, Buffer.concat([utf8.subarray(0, -2), Buffer.from('\n')]));
  const one = await run('user', 'import', damaged);
  expect(one.exitCode).toBe(1);
  expect(one.stderr).toContain('damaged.csv:4: this is not UTF-8, but the file is UTF-8 otherwise');
  const big5 = join(folder, 'big5.csv');
  await writeFile(big5, encode('username,displayName\na,張三豐\nb,李四端\n', 'big5'));
  expect((await run('user', 'import', big5)).stderr).toContain('give --encoding');
  const named = await run('user', 'import', big5, '--encoding', 'big5');
  expect(named.stdout).toContain('(BIG5): 2 new, 0 there already; first: a 張三豐, b 李四端');
});

describe('UNKNOWN_USER', () => {
  test.each([
    ['zhangsan', 'ZhangSan'],
    [' ZhangSan ', 'ZhangSan'],
    ['USER-1', 'user-1'],
  ])('suggests for %j the login %s', async (username, meant) => {
    const { reason, errors } = await pushFor(username);
    expect(reason).toBe('UNKNOWN_USER');
    expect(errors?.[0]?.message).toBe(`用户不存在或已停用: ${username}；是否应为 ${meant}？`);
  });

  test('suggests nobody who is disabled, nor for a name that is another one', async () => {
    await run('user', 'disable', 'ZhangSan');
    for (const username of ['zhangsan', 'ZhangSan', 'zhang.san']) {
      expect((await pushFor(username)).errors?.[0]?.message).toBe(
        `用户不存在或已停用: ${username}`,
      );
    }
  });

  test('suggests an initiator too, and in a batch', async () => {
    const body = { matterType: 'NOTICE', externalId: 'U-2', title: 't' };
    const { data } = await service.push('upsert', { ...body, initiatorUsername: 'zhangsan' });
    const message = expect.stringContaining('是否应为 ZhangSan');
    expect(data.warnings).toMatchObject([{ kind: 'UNKNOWN_INITIATOR', message }]);
  });
});
