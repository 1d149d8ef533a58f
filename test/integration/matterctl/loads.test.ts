/** The command itself: it does what tests see of it in their own process, and loads only what it needs. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CliRun, matterctl } from '../../support/cli-tool';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

const FOLDER = path.resolve(__dirname, '../../../dist/tools/matterctl');
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

/** Runs Node in the folder. @returns how it ended, as a run of matterctl */
function node(args: readonly string[]) {
  const options = { env: { ...process.env, ...service.env }, cwd: folder };
  return new Promise<CliRun>((resolve) => {
    const child = execFile(process.execPath, args, options, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

test.each([
  ['a version', ['--version'], 0],
  ['a wrong use', ['reconcile'], 2],
  // Of a client without any: rejections of the file before are recorded late.
  ['a search', ['log', 'query', '--client-id', 'unknown', '--limit', '1', '--json'], 0],
  ['a question about nothing', ['log', 'show', '0123456789abcdef01234567'], 1],
])('%s: the command ends as its program does in a test', async (_, args, exitCode) => {
  const command = await node([path.join(FOLDER, 'matterctl.js'), ...args]);
  expect(command).toEqual(await matterctl(args, { env: service.env, cwd: folder }));
  expect(command.exitCode).toBe(exitCode);
});

/** Runs command lines one after the other in one process. */
const RUNNER = `
  const { runMatterctl } = require(${JSON.stringify(path.join(FOLDER, 'program.js'))});
  const { processSettings } = require(${JSON.stringify(path.join(FOLDER, 'settings.js'))});
  const { writeFileSync } = require('node:fs');
  (async () => {
    const { stdin, stdout, stderr } = process;
    const [file, ...lines] = process.argv.slice(1);
    for (const line of lines) {
      await runMatterctl(line.split(' '), { settings: processSettings(), stdin, stdout, stderr });
    }
    writeFileSync(file, JSON.stringify(Object.keys(require.cache)));
  })();`;

/** @returns which of the heavy packages these command lines loaded */
async function loadedBy(...lines: string[]): Promise<string[]> {
  const file = path.join(folder, 'modules.json');
  const { stderr } = await node(['-e', RUNNER, file, ...lines]);
  expect(stderr).not.toContain('Error: ');
  const files: string[] = JSON.parse(readFileSync(file, 'utf8'));
  const isLoaded = (name: string) =>
    files.some((module) => module.includes(path.join(path.sep, 'node_modules', name, path.sep)));
  return HEAVY.filter(isLoaded);
}

test('help and wrong usage load none of them', async () => {
  const help = await loadedBy('--help', '--version', 'log resend --help', 'reconcile');
  expect(help).toEqual([]);
});

test('signed queries load neither the driver of the database nor that of the queue', async () => {
  const logs = ['log query', 'log tail', 'log export', 'log report'];
  const queries = [...logs, 'matter history TEST L-1'];
  const heavy = await loadedBy(...queries.map((line) => [line, ...signer()].join(' ')));
  expect(heavy).toEqual(['zod']);
});

test('a look into the database loads its driver, and not that of the queue', async () => {
  expect(await loadedBy('log query')).toEqual(['mongodb', 'mongoose', 'zod']);
});

test('a look into the queue loads its driver, and not that of the database', async () => {
  const heavy = await loadedBy('queue oldest');
  expect(heavy).toContain('ioredis');
  expect(heavy).not.toContain('mongoose');
});

/** Imports modules as the commands do. Prints those whose names differ from the names that `require` gives. */
const NAMES = `
  (async () => {
    for (const file of process.argv.slice(1)) {
      const imported = Object.keys(await import(file)).filter((name) => name !== 'default');
      const required = Object.keys(require(file));
      const missing = required.filter((name) => !imported.includes(name));
      if (missing.length > 0) console.log(file + ': ' + missing.join(', '));
    }
  })();`;

test('a module that a command loads on demand gives each of its names', async () => {
  const dist = path.resolve(FOLDER, '../..');
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js') && !name.startsWith('browser'))
    .map((name) => path.join(dist, name));
  const loaded = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bimport\("(\.[^"]+)"\)/g)].map(([, name = '']) =>
      path.resolve(path.dirname(file), name),
    ),
  );
  expect(loaded.length).toBeGreaterThan(20);
  const { exitCode, stdout, stderr } = await node(['-e', NAMES, ...new Set(loaded)]);
  expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});
