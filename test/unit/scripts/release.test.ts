/** A release is of one version, has a date, and is of a commit. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { uncommitted, versionProblems } from '../../../scripts/lib/release.mjs';
import { tarOf } from '../../../scripts/lib/tar.mjs';

const ROOT = resolve(__dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const { version } = JSON.parse(read('package.json'));

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
  const FILES = [
    'package-lock.json',
    'src/protocol/version.ts',
    'docs/openapi.json',
    'Dockerfile',
    'tools/client/README.md',
    'tools/matterctl/README.md',
    'CHANGELOG.md',
  ];

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

test('a file that is in no commit, or changed, is named', () => {
  const commit = ['-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-qam', 'one'];
  run('git', 'init', '-q');
  writeFileSync(join(folder, 'known'), '1');
  run('git', 'add', 'known');
  run('git', ...commit);
  expect(uncommitted(folder)).toEqual([]);
  writeFileSync(join(folder, 'known'), '2');
  writeFileSync(join(folder, 'unknown'), '1');
  expect(uncommitted(folder)).toEqual([' M known', '?? unknown']);
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
