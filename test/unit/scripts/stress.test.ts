/** npm run test:stress: what it runs, what it says that a run took, and that nothing of it stays behind. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../../support/wait';

const LIB = resolve(__dirname, '../../../scripts/lib/stress.mjs');
const folder = mkdtempSync(join(tmpdir(), 'matter-push-stress-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A module of the other kind, in a process of its own. */
const scriptOf = (body: string) =>
  `import(${JSON.stringify(LIB)}).then(async ({ planOf, measure, cpuOf }) => {${body}})`;

function evaluate(expression: string): unknown {
  const script = scriptOf(`console.log(JSON.stringify(${expression}));`);
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

test('the proof is two runs of the tests in each situation, and one of the soak tests with and without load', () => {
  const plan = evaluate('planOf({}).map((one) => Object.values(one).join(" "))');
  expect(plan).toEqual([
    ...['test busy 1', 'test busy 2', 'test pinned 1', 'test pinned 2'],
    ...['test idle 1', 'test idle 2', 'soak busy 1', 'soak idle 1'],
  ]);
});

test('a part of it can be chosen', () => {
  const part = evaluate('planOf({ only: ["pinned", "idle"], runs: 1, suite: "test" })');
  expect(part).toEqual([
    { suite: 'test', situation: 'pinned', run: 1 },
    { suite: 'test', situation: 'idle', run: 1 },
  ]);
  expect(evaluate('planOf({ only: ["pinned"], suite: "soak" })')).toEqual([]);
});

test('the processor time is that of the children, user and system', () => {
  expect(evaluate(String.raw`cpuOf('0m0.01s 0m0.02s\n1m2.500s 0m7.5s\n')`)).toBe(70_000);
  expect(evaluate('cpuOf("")')).toBe(0);
});

test('a run has the exit code of its command, its processor time, and its output in a file', () => {
  const logFile = join(folder, 'exit.log');
  const work = 'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end);';
  const command = [process.execPath, '-e', `${work} console.log("told"); process.exit(3)`];
  const options = { situation: 'idle', logFile, cwd: folder };
  const took = evaluate(
    `await measure(${JSON.stringify(command)}, ${JSON.stringify(options)})`,
  ) as Record<string, number>;
  expect(took).toMatchObject({ exitCode: 3 });
  expect(took.cpuMs).toBeGreaterThanOrEqual(300);
  expect(took.wallMs).toBeGreaterThan(0);
  expect(readFileSync(logFile, 'utf8')).toBe('told\n');
});

/** Processes whose command line has this text. */
const processesWith = (text: string) =>
  String(spawnSync('ps', ['-eo', 'pid=,ppid=,args=']).stdout)
    .split('\n')
    .filter((line) => line.includes(text));

test('busy loops run next to the command, and none is left when it was stopped', async () => {
  const logFile = join(folder, 'busy.log');
  const command = [process.execPath, '-e', 'console.log("runs"); setInterval(() => {}, 1000)'];
  const options = JSON.stringify({ situation: 'busy', logFile, cwd: folder });
  const script = scriptOf(`
    const stop = new AbortController();
    process.on('SIGTERM', () => stop.abort());
    await measure(${JSON.stringify(command)}, { ...${options}, signal: stop.signal });
  `);
  const run = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  const loops = () => processesWith('spin').filter((line) => line.includes(` ${run.pid} `));
  await until('the command', async () => {
    return existsSync(logFile) && readFileSync(logFile, 'utf8') === 'runs\n';
  });
  expect(loops()).not.toEqual([]);
  const pids = loops().map((line) => Number(line.trim().split(/ +/)[0]));
  run.kill('SIGTERM');
  await once(run, 'exit');
  await until('the loops to be gone', async () => !pids.some(isAlive));
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
