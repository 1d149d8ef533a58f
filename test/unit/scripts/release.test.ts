/** A release is of one version, has a date, and is of a commit. */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildRelease, uncommitted, versionProblems } from '../../../scripts/lib/release.mjs';
import { tarOf } from '../../../scripts/lib/tar.mjs';

const ROOT = resolve(__dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const { version } = JSON.parse(read('package.json'));

/** The files that state the version, beside package.json. */
const FILES = [
  'package-lock.json',
  'src/protocol/version.ts',
  'docs/openapi.json',
  'Dockerfile',
  'tools/client/README.md',
  'tools/matterctl/README.md',
  'CHANGELOG.md',
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'matter-push-release-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

describe('the version', () => {
  test('is the same everywhere, and the changelog has its date', () => {
    expect(versionProblems(read)).toEqual([]);
  });

  test.each(FILES)('another one in %s is a problem', (file) => {
    const other = (name: string) =>
      name === file ? read(name).replaceAll(version, '9.8.7') : read(name);
    expect(versionProblems(other)).toEqual([
      file === 'CHANGELOG.md'
        ? `CHANGELOG.md: no entry for ${version}`
        : `${file}: version 9.8.7 instead of ${version}`,
    ]);
  });

  test('another one in package.json is a problem of each file', () => {
    const other = (name: string) =>
      name === 'package.json' ? JSON.stringify({ version: '9.8.7' }) : read(name);
    expect(versionProblems(other).map((problem) => problem.split(':')[0])).toEqual(FILES);
  });

  test.each(['Unreleased', '2026-13-40', ''])('an entry dated %j is a problem', (date) => {
    const entry = `## [${version}] - ${date}`;
    const undated = (name: string) =>
      name === 'CHANGELOG.md' ? `# Changelog\n\n## [Unreleased]\n\n${entry}\n` : read(name);
    expect(versionProblems(undated)).toEqual([`CHANGELOG.md: the entry has no date: ${entry}`]);
  });
});

describe('the command', () => {
  const commit = (...args: string[]) =>
    run('git', '-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', ...args);
  beforeEach(() => {
    for (const name of ['package.json', 'scripts', ...FILES]) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    }
    run('git', 'init', '-q');
    run('git', 'add', '.');
    commit('-m', 'all');
  });

  /** It ends before it builds, because this project has no modules. */
  function check(...args: string[]) {
    const script = join(folder, 'scripts/release-check.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
    return { status, stderr };
  }

  test('names a file that is in no commit, and one that is changed', () => {
    expect(uncommitted(folder)).toEqual([]);
    appendFileSync(join(folder, 'CHANGELOG.md'), 'more\n');
    writeFileSync(join(folder, 'unknown'), '1');
    expect(check()).toEqual({
      status: 1,
      stderr: 'not committed:  M CHANGELOG.md\nnot committed: ?? unknown\n',
    });
    const allowed = check('--allow-dirty');
    expect(allowed).toEqual({ status: 1, stderr: expect.stringContaining("module 'esbuild'") });
    expect(allowed.stderr).not.toContain('not committed');
  });

  test('ends at another version, whatever is committed', () => {
    writeFileSync(join(folder, 'src/protocol/version.ts'), "export const VERSION = '9.8.7';\n");
    commit('-am', 'another version');
    expect(check('--allow-dirty')).toEqual({
      status: 1,
      stderr: `src/protocol/version.ts: version 9.8.7 instead of ${version}\n`,
    });
  });
});

test('an archive has the names, modes and contents of its files, and nothing else', () => {
  const files = [
    { name: 'empty', isExecutable: false, bytes: Buffer.alloc(0) },
    { name: `${'long/'.repeat(18)}name`, isExecutable: true, bytes: Buffer.alloc(512, 'a') },
    { name: 'text', isExecutable: false, bytes: Buffer.from('事项') },
  ];
  writeFileSync(join(folder, 'files.tar'), tarOf(files));
  run('tar', '-xf', 'files.tar');
  for (const { name, isExecutable, bytes } of files) {
    expect(readFileSync(join(folder, name))).toEqual(bytes);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(isExecutable ? 0o755 : 0o644);
  }
  expect(run('tar', '-tf', 'files.tar').trim().split('\n')).toEqual(files.map(({ name }) => name));
  expect(tarOf(files)).toEqual(tarOf(files));
  const tooLong = {
    ...files[0],
    name: 'x'.repeat(101),
    isExecutable: false,
    bytes: Buffer.alloc(0),
  };
  expect(() => tarOf([tooLong])).toThrow('too long for tar');
});

test('a folder with other files than a release is rejected, and they stay', async () => {
  writeFileSync(join(folder, 'work.txt'), 'mine');
  await expect(buildRelease(ROOT, folder)).rejects.toThrow('contains other files than a release');
  expect(readFileSync(join(folder, 'work.txt'), 'utf8')).toBe('mine');
});
