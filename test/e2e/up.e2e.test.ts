/** The two commands as a user types them, in a copy of the project. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parentDeathPipe } from '../../tools/local/parent-death-pipe';
import { projectRoot } from '../../tools/local/project';
import { until } from '../support/wait';

const COPIED = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'tsconfig.json',
  'scripts',
  'src',
  'workers',
  'browser',
  'docs',
  'examples',
  'tools',
  'dist',
];
const SERVES = 'A first push, to paste';
/** Milliseconds for `npm start` on a machine that is slow and busy. */
const START_MS = 240_000;
const BINARIES = `${process.platform}-${process.arch}`;

let folder: string;
const runs: { pid: number; exited: Promise<unknown>; guard: ChildProcess }[] = [];

beforeAll(() => {
  const root = projectRoot();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'matter-push-up-')));
  for (const name of COPIED) {
    cpSync(join(root, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  cpSync(join(root, '.embedded', BINARIES), join(folder, '.embedded', BINARIES), {
    recursive: true,
  });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});

afterAll(async () => {
  for (const { pid, exited, guard } of runs) {
    if (alive([pid]).length > 0) process.kill(pid, 'SIGTERM');
    await exited;
    guard.kill('SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true });
});

/** npm in the copy, without what npm and we ourselves set for this run. */
function npm(args: string[], extra: NodeJS.ProcessEnv = {}) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|TEST_|JEST_)/i.test(name)),
  );
  const child = spawn('npm', args, {
    cwd: folder,
    detached: true,
    env: { ...env, PORT: '0', ...extra },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  // Were this test run killed, the guard would still end what it started.
  const pid = child.pid ?? 0;
  const guardian = ['-c', 'cat >/dev/null; kill -TERM "$1"', 'guard', String(pid)];
  const guard = spawn('sh', guardian, {
    detached: true,
    stdio: [parentDeathPipe().readFd, 'ignore', 'ignore'],
  });
  runs.push({ pid, exited, guard });
  return { pid, output: () => output, exited };
}

type Npm = ReturnType<typeof npm>;

async function started(): Promise<Npm> {
  const run = npm(['start']);
  let isOver = false;
  void run.exited.then(() => {
    isOver = true;
  });
  const isServing = async () => {
    if (isOver) throw new Error(`it did not start:\n${run.output()}`);
    return run.output().includes(SERVES);
  };
  await until('it to serve', isServing, START_MS);
  return run;
}

const untilGone = (pids: number[]) => until('all to be gone', async () => alive(pids).length === 0);

/** Every process under a pid, itself included. */
function family(root: number): number[] {
  const rows = execFileSync('ps', ['-ax', '-o', 'pid=', '-o', 'ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const from = (pid: number): number[] => [
    pid,
    ...rows.filter(([, parent]) => parent === pid).flatMap(([child]) => from(child ?? 0)),
  ];
  return from(root);
}

function alive(pids: number[]): number[] {
  return pids.filter((pid) => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false; // ESRCH: gone
    }
  });
}

function endpoints(): { url: string; pid: number } {
  return JSON.parse(readFileSync(join(folder, '.data/endpoints.json'), 'utf8'));
}

test('npm start serves, takes the push that it prints, and leaves nothing behind', async () => {
  const run = await started();
  const pids = family(run.pid);
  const { url } = endpoints();
  expect(run.output()).toContain(`Matter Push listens on ${url}`);
  const push = run.output().split(`${SERVES} into another terminal:`)[1] ?? '';
  const answer = execFileSync('sh', ['-c', push], { encoding: 'utf8' });
  expect(JSON.parse(answer)).toMatchObject({ code: 0 });
  expect(run.output()).toContain(`${url}/docs`);
  const demo = await (await fetch(`${url}/docs/demo.json`)).text();
  expect(demo).toBe(readFileSync(join(folder, '.data/demo-client.json'), 'utf8'));

  const second = npm(['start']);
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`already runs in this folder: it listens on ${url}`);

  process.kill(run.pid, 'SIGTERM');
  expect(await run.exited).toBe(0);
  // The system takes a moment to reap orphans.
  await untilGone(pids);
  expect(existsSync(join(folder, '.data/endpoints.json'))).toBe(false);
});

test.each([
  ['Ctrl-C', (pid: number) => process.kill(-pid, 'SIGINT')],
  ['SIGKILL of npm', (pid: number) => process.kill(pid, 'SIGKILL')],
  ['SIGKILL of the supervisor', () => process.kill(endpoints().pid, 'SIGKILL')],
])('after %s nothing is left running', async (_name, end) => {
  const run = await started();
  const pids = family(run.pid);
  expect(pids.length).toBeGreaterThan(6);
  end(run.pid);
  await untilGone(pids);
});

test('npm test has servers of its own, hands on arguments and the exit code', async () => {
  for (const name of ['jest.config.cjs', 'test/support']) {
    cpSync(join(projectRoot(), name), join(folder, name), { recursive: true });
  }
  writeFileSync(
    join(folder, 'test/own.test.ts'),
    `test('servers', () => {
      expect(process.env.TEST_MONGO_URL).toMatch(/^mongodb:/);
      expect(process.env.TEST_REDIS_URL).toMatch(/^redis:/);
      expect(process.env.MONGO_URL).toBeUndefined();
    });
    test('failure', () => { throw new Error('as meant'); });
    test('not asked for', () => {});`,
  );
  const given = { MONGO_URL: 'mongodb://given.invalid/x' };
  const run = npm(['test', '--', '-t', 'servers|failure'], given);
  expect(await run.exited).toBe(1);
  expect(run.output()).toContain('as meant');
  expect(run.output()).toContain('1 failed, 1 skipped, 1 passed');
});
