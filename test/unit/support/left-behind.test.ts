/** A test file that leaves a connection, a server, a timer or a process behind fails. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'matter-push-left-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs jest as this project does on files with these bodies of a test, in one process, one after the other. */
function runFiles(bodies: Readonly<Record<string, string>>) {
  for (const [name, body] of Object.entries(bodies)) {
    const text = `const net = require('node:net'); const { spawn } = require('node:child_process');
      const { once } = require('node:events'); let mine;
      test('passes', async () => { ${body} });`;
    writeFileSync(join(folder, `${name}.test.js`), text);
  }
  const config = {
    rootDir: folder,
    testEnvironment: join(ROOT, 'test/support/jest-environment.cjs'),
    runtime: join(ROOT, 'test/support/jest-runtime.cjs'),
    transform: {},
    cacheDirectory: join(folder, 'cache'),
  };
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const args = [jest, '--config', JSON.stringify(config), '--json', '--runInBand', '--forceExit'];
  const env = { ...process.env, LEFT_BEHIND_PATIENCE: '500' };
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env });
  if (String(stdout) === '') throw new Error(String(stderr));
  const { testResults } = JSON.parse(String(stdout));
  const results = testResults as { name: string; status: string; message: string }[];
  return new Map(
    results.map(({ name, ...result }) => [name.replace(/.*\/|\.test\.js$/g, ''), result]),
  );
}

test('a file fails if it leaves something behind, and its error names what', () => {
  const listening = `mine = net.createServer((s) => s.resume()).listen(0); await once(mine, 'listening');`;
  const connected = `${listening} const client = net.connect(mine.address().port); await once(client, 'connect');`;
  const results = runFiles({
    timer: 'setTimeout(() => {}, 3_600_000);',
    interval: 'setInterval(() => {}, 3_600_000);',
    wait: `require('node:timers/promises').setTimeout(3_600_000);`,
    server: listening,
    connection: `${connected} mine.close();`,
    process: `mine = spawn('sleep', ['60'], { stdio: 'ignore' }); await once(mine, 'spawn');`,
    ended: `${connected} client.destroy(); mine.close(); clearTimeout(setTimeout(() => {}, 9_999));`,
    'short-timer': 'setTimeout(() => {}, 50);',
    'unref-timer': 'setTimeout(() => {}, 3_600_000).unref();',
    streams: 'void process.stdin; void process.stdout; void process.stderr;',
    'fake-timer': 'jest.useFakeTimers(); setTimeout(() => {}, 3_600_000);',
  });
  const failed = [...results].filter(([, { status }]) => status === 'failed').map(([name]) => name);
  expect(failed.sort()).toEqual(['connection', 'interval', 'process', 'server', 'timer', 'wait']);
  const messageOf = (name: string) => results.get(name)?.message;
  expect(messageOf('timer')).toMatch(/This file left behind:\s+a timer of 3600000 ms/);
  expect(messageOf('server')).toMatch(/1 more of TCPServerWrap than before\s+Server at port \d+/);
  expect(messageOf('connection')).toMatch(/connection from port \d+ to port \d+/);
  expect(messageOf('process')).toMatch(/process \d+: sleep 60/);
});
