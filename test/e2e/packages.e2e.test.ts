/** The two packages, each installed alone into an empty folder: it has what it needs, compiles, and pushes. */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npmCommand } from '../../scripts/lib/node-modules.mjs';
import { makePackages } from '../../scripts/lib/packages.mjs';
import { createDemo } from '../../tools/local/prepare-data';
import type { SharedService } from '../support/service';
import { sharedService } from '../support/shared-service';

const ROOT = join(__dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const read = (...path: string[]) => readFileSync(join(...path), 'utf8');
const { version } = JSON.parse(read(ROOT, 'package.json'));
const run = promisify(execFile);

const base = mkdtempSync(join(tmpdir(), 'matter-push-packages-'));
/** The folders of two projects that have one package each. */
const PROJECT = { client: join(base, 'of-client'), cli: join(base, 'of-cli') };
const packageOf = (name: keyof typeof PROJECT) =>
  join(PROJECT[name], 'node_modules/@matter-push', name);

let service: SharedService;
let demo: { clientId: string; secret: string };
beforeAll(async () => {
  const [client = '', cli = ''] = await makePackages(ROOT, base);
  await Promise.all([install(PROJECT.client, client), install(PROJECT.cli, cli)]);
  service = await sharedService();
  // The function by which npm start makes the demo client and the users that the pages name.
  demo = await createDemo({ ...process.env, ...service.env, DATA_DIR: base });
  writeFileSync(join(PROJECT.cli, 'demo.secret'), demo.secret);
});
afterAll(async () => {
  await service?.stop();
  rmSync(base, { recursive: true, force: true });
});

async function install(folder: string, tarball: string): Promise<void> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const [command = '', ...first] = npmCommand();
  const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run(command, [...first, 'install', ...options, join(base, tarball)], { cwd: folder });
}

describe.each(['client', 'cli'] as const)('@matter-push/%s', (name) => {
  const manifest = () => JSON.parse(read(packageOf(name), 'package.json'));

  test('has this version, its licence, and a page that names its tarball', () => {
    expect(manifest()).toMatchObject({ name: `@matter-push/${name}`, version, license: 'MIT' });
    expect(read(packageOf(name), 'LICENSE')).toBe(read(ROOT, 'LICENSE'));
    expect(read(packageOf(name), 'README.md')).toContain(`matter-push-${name}-${version}.tgz`);
  });

  test('contains every module that its modules load, or depends on its package', () => {
    const files = readdirSync(packageOf(name), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.js') && !file.includes('node_modules'));
    expect(sources.length).toBeGreaterThan(20);
    const missing = sources.flatMap((file) =>
      [...read(packageOf(name), file).matchAll(/\b(?:require|import)\("([^"]+)"\)/g)]
        .map(([, module = '']) => module)
        .filter((module) => !isThere(join(packageOf(name), file, '..'), module))
        .map((module) => `${file}: ${module}`),
    );
    expect(missing).toEqual([]);
  });

  function isThere(folder: string, module: string): boolean {
    if (isBuiltin(module)) return true;
    if (!module.startsWith('.')) return (module.split('/')[0] ?? '') in manifest().dependencies;
    return existsSync(join(folder, module)) || existsSync(join(folder, `${module}.js`));
  }
});

describe('the client', () => {
  const blockOf = (page: string) => /```ts\n([\s\S]*?)```/.exec(read(page))?.[1] ?? '';
  const PAGE = blockOf(join(ROOT, 'docs/client.md'));
  const README = blockOf(join(ROOT, 'tools/client/README.md'));
  beforeAll(() => {
    const types = join(PROJECT.client, 'node_modules/@types');
    symlinkSync(join(ROOT, 'node_modules/@types'), types);
  });

  /** Checks declarations of the package too. @throws with what the compiler says in `stdout` */
  async function compile(source: string): Promise<void> {
    writeFileSync(join(PROJECT.client, 'push.ts'), source);
    const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    await run(process.execPath, [TSC, ...options, 'push.ts'], { cwd: PROJECT.client });
  }

  const start = (secret: string) =>
    run(process.execPath, ['push.js'], {
      cwd: PROJECT.client,
      env: { URL: service.urlOf(), CLIENT_ID: demo.clientId, CLIENT_SECRET: secret },
    });

  test('needs no other package', () => {
    const installed = readdirSync(join(PROJECT.client, 'node_modules'));
    expect(installed.filter((name) => !name.startsWith('.')).sort()).toEqual([
      '@matter-push',
      '@types',
    ]);
  });

  test('of docs/client.md compiles, pushes, and tells of a rejection', async () => {
    await compile(PAGE);
    const { stdout, stderr } = await start(demo.secret);
    expect({ stdout, stderr }).toEqual({
      stdout: expect.stringMatching(/^CREATED \d+\n$/),
      stderr: '',
    });
    const rejected = await start('wrong');
    expect(rejected).toMatchObject({ stdout: '' });
    expect(rejected.stderr).toMatch(
      /^401 SIGNATURE_MISMATCH the HMAC signature does not match [0-9a-f]{24}\n$/,
    );
  });

  test('of its own page compiles, pushes, and queries', async () => {
    await compile(README);
    expect(await start(demo.secret)).toEqual({
      stdout: expect.stringMatching(/^CREATED \[.*\]\n$/),
      stderr: '',
    });
  });

  test.each([
    [
      'a body that the contract does not know',
      "matterType: 'TODO'",
      "matterType: 'TASK'",
      '\'"TASK"\' is not assignable',
    ],
    [
      'a field that no answer has',
      'map(({ reason })',
      'map(({ cause, reasons })',
      "'reasons' does not exist",
    ],
  ])('%s is none for the compiler', async (_, correct, wrong, problem) => {
    expect(README).toContain(correct);
    await expect(compile(README.replace(correct, wrong))).rejects.toMatchObject({
      stdout: expect.stringContaining(problem),
    });
  });
});

describe('matterctl', () => {
  /** @param more settings beside PATH */
  const matterctl = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
    run(join(PROJECT.cli, 'node_modules/.bin/matterctl'), args, {
      cwd: PROJECT.cli,
      env: { PATH: process.env.PATH, ...more },
    });
  const signer = () => [
    ...['--url', service.urlOf(), '--client-id', demo.clientId, '--secret-file', 'demo.secret'],
  ];

  test('depends only on what it needs, in the versions of the tests', () => {
    const { dependencies } = JSON.parse(read(packageOf('cli'), 'package.json'));
    expect(Object.keys(dependencies)).toEqual([
      ...['bullmq', 'cli-progress', 'cli-table3', 'commander', 'ioredis', 'luxon', 'mongodb'],
      ...['mongoose', 'pino', 'zod'],
    ]);
    for (const [name, exact] of Object.entries(dependencies)) {
      expect([name, JSON.parse(read(ROOT, 'node_modules', name, 'package.json')).version]).toEqual([
        name,
        exact,
      ]);
    }
  });

  test('shows its help and its version, and loads no driver for them', async () => {
    const preload = join(ROOT, 'test/support/loaded-modules.cjs');
    const env = {
      NODE_OPTIONS: `--require=${preload}`,
      LOADED_MODULES: join(PROJECT.cli, 'loaded'),
    };
    const { stdout } = await matterctl(['--help'], env);
    expect(stdout).toMatch(/^Usage: matterctl /);
    const [file = ''] = readdirSync(PROJECT.cli).filter((name) => name.startsWith('loaded'));
    const loaded: string[] = JSON.parse(read(PROJECT.cli, file));
    const packages = ['commander', 'bullmq', 'ioredis', 'mongodb', 'mongoose', 'pino', 'zod'];
    const isLoaded = (name: string) =>
      loaded.some((path) => path.includes(`/node_modules/${name}/`));
    expect(packages.filter(isLoaded)).toEqual(['commander']);
    expect(await matterctl(['--version'])).toEqual({ stdout: `${version}\n`, stderr: '' });
  });

  test('pushes a file, shows a failure, imports its user, and resends it', async () => {
    const line = (externalId: string, username: string) => ({
      op: 'upsert',
      body: {
        ...{ matterType: 'TODO', externalId, title: '安装包' },
        parties: [{ username, partyRole: 'ASSIGNEE' }],
      },
    });
    const lines = [line('PACKAGE-1', 'li.lei'), line('PACKAGE-2', 'package.user')];
    const file = lines.map((push) => `${JSON.stringify(push)}\n`).join('');
    writeFileSync(join(PROJECT.cli, 'pushes.ndjson'), file);
    await expect(matterctl(['push', 'pushes.ndjson', ...signer()])).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/CREATED +1\n +failed +1\n +UNKNOWN_USER +1\n/),
    });
    const query = ['log', 'query', '--failed', '--limit', '1', '--json', ...signer()];
    const { requestId } = JSON.parse((await matterctl(query)).stdout.split('\n')[0] ?? '');
    const shown = await matterctl(['log', 'show', requestId, ...signer()]);
    expect(shown.stdout).toContain('PACKAGE-2');
    // The commands of operators: with the drivers of the database and of the queue, and with its Redis scripts.
    writeFileSync(join(PROJECT.cli, 'users.csv'), 'username,displayName\npackage.user,包\n');
    await matterctl(['user', 'import', 'users.csv'], service.env);
    const resend = ['log', 'resend', '--request-id', requestId, '--apply'];
    expect((await matterctl(resend, service.env)).stdout).toContain('CREATED');
  });
});
