/** What matterctl loads: help and a signed query wait for no driver that only other commands need. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

const TOOL = path.resolve(__dirname, '../../../dist/tools/matterctl/matterctl.js');
const SPY = path.resolve(__dirname, '../../support/loaded-modules.cjs');
const HEAVY = ['bullmq', 'ioredis', 'mongodb', 'mongoose', 'pino', 'zod'];

const folder = mkdtempSync(path.join(tmpdir(), 'matterctl-loads-'));
const secretFile = path.join(folder, 'secret');
let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  writeFileSync(secretFile, service.secret);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

const signer = () => [
  ...['--url', service.urlOf(), '--client-id', service.clientId],
  ...['--secret-file', secretFile],
];

/** Runs one command line as a process. @returns its exit code, and which of the heavy packages it loaded */
async function loadedBy(...args: string[]): Promise<{ exitCode: number; heavy: string[] }> {
  const run = mkdtempSync(path.join(folder, 'run-'));
  const env = { ...process.env, ...service.env, LOADED_MODULES: path.join(run, 'modules') };
  const exitCode = await new Promise<number>((resolve) => {
    const command = ['--require', SPY, TOOL, ...args];
    const child = execFile(process.execPath, command, { env, cwd: run }, () =>
      resolve(child.exitCode ?? -1),
    );
  });
  const [list = ''] = readdirSync(run);
  const files: string[] = JSON.parse(readFileSync(path.join(run, list), 'utf8'));
  const isLoaded = (name: string) =>
    files.some((file) => file.includes(path.join(path.sep, 'node_modules', name, path.sep)));
  return { exitCode, heavy: HEAVY.filter(isLoaded) };
}

test.each([
  ['--help', 0],
  ['--version', 0],
  ['log resend --help', 0],
  ['reconcile', 2],
])('%s loads none of them', async (line, exitCode) => {
  expect(await loadedBy(...line.split(' '))).toEqual({ exitCode, heavy: [] });
});

test.each(['log query', 'log tail', 'log export', 'matter history TEST L-1'])(
  '%s, signed, loads neither the driver of the database nor that of the queue',
  async (line) => {
    const { heavy } = await loadedBy(...line.split(' '), ...signer());
    expect(heavy).toEqual(['zod']);
  },
);

test('a look into the database loads its driver, and not that of the queue', async () => {
  const loaded = await loadedBy('log', 'query');
  expect(loaded).toEqual({ exitCode: 0, heavy: ['mongodb', 'mongoose', 'zod'] });
});

test('a look into the queue loads its driver, and not that of the database', async () => {
  const { exitCode, heavy } = await loadedBy('queue', 'oldest');
  expect(exitCode).toBe(0);
  expect(heavy).toContain('ioredis');
  expect(heavy).not.toContain('mongoose');
});
