/** Builds the parts of a release, and finds texts that contradict its version. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockSubset } from './lock-subset.mjs';
import { npmCommand } from './node-modules.mjs';
import { makePackages, PACKAGES } from './packages.mjs';
import { SetupError } from './progress.mjs';
import { tarOf } from './tar.mjs';

const SUMS = 'SHA256SUMS';

/**
 * Builds a release: image context, packages, SBOM, checksums. An earlier release in the folder is deleted.
 * @returns {Promise<string[]>} the names of the files, without that of the checksums
 * @throws {SetupError} if the folder contains something else, which stays, or if a part cannot be built
 */
export async function buildRelease(root, outdir) {
  if (existsSync(outdir) && readdirSync(outdir).length > 0 && !existsSync(join(outdir, SUMS))) {
    throw new SetupError(`${outdir} contains other files than a release: name an empty folder`);
  }
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { name, version } = manifest;
  const tarballs = await makePackages(root, outdir);
  const context = `${name}-${version}-image.tar`;
  writeFileSync(join(outdir, context), tarOf(imageContext(root)));
  const sbom = `${name}-${version}-sbom.json`;
  writeFileSync(join(outdir, sbom), sbomOf(root, manifest));
  const files = [context, sbom, ...tarballs].sort();
  const sums = files.map((file) => `${sha256(readFileSync(join(outdir, file)))}  ${file}\n`);
  writeFileSync(join(outdir, SUMS), sums.join(''));
  return files;
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** @returns {string} the output of a command */
function run(cwd, command, ...args) {
  const options = { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, timeout: 120_000 };
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status === 0) return stdout;
  throw new SetupError(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`);
}

/** @returns {string[]} uncommitted changes, as git prints them */
export const uncommitted = (root) =>
  run(root, 'git', 'status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '');

/** The files that docker gets: those of .dockerignore, and the two files that docker itself reads. */
function imageContext(root) {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n');
  const folders = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  const paths = ['Dockerfile', '.dockerignore', ...folders];
  const listed = run(
    root,
    'git',
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    ...paths,
  );
  const names = [...new Set(listed.split('\0'))]
    .filter((name) => name !== '' && existsSync(join(root, name)))
    .sort();
  return names.map((name) => ({
    name,
    isExecutable: (statSync(join(root, name)).mode & 0o100) !== 0,
    bytes: readFileSync(join(root, name)),
  }));
}

/**
 * The packages of a deployment as CycloneDX. `npm sbom --omit dev` omits packages that a tool needs too, so npm reads a
 * lockfile without the tools. Each run has another serial number and time: the SBOM has the time of the commit instead.
 */
function sbomOf(root, { name, devDependencies: _, ...manifest }) {
  const base = mkdtempSync(join(tmpdir(), 'matter-push-sbom-'));
  try {
    // npm takes the name of the project from the folder.
    const cwd = join(base, name);
    mkdirSync(cwd);
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name, ...manifest }));
    writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify(lockSubset(lock, [])));
    const [command, ...first] = npmCommand();
    const options = ['--sbom-format', 'cyclonedx', '--package-lock-only'];
    const sbom = JSON.parse(run(cwd, command, ...first, 'sbom', ...options));
    const committed = new Date(run(root, 'git', 'log', '-1', '--format=%cI').trim());
    const metadata = { ...sbom.metadata, timestamp: committed.toISOString() };
    return `${JSON.stringify({ ...sbom, serialNumber: undefined, metadata }, null, 2)}\n`;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** The files that state the version, and how to read it. */
const STATED = [
  ['package-lock.json', (text) => JSON.parse(text).version],
  ['src/protocol/version.ts', (text) => /VERSION = '(.+)'/.exec(text)?.[1]],
  ['docs/openapi.json', (text) => JSON.parse(text).info.version],
  ['Dockerfile', (text) => /image\.version="(.+)"/.exec(text)?.[1]],
  ...PACKAGES.map(({ readme }) => [readme, (text) => /-(\d[^/]*)\.tgz/.exec(text)?.[1]]),
];

/**
 * Finds texts of the project that contradict the version in package.json.
 * @param {(path: string) => string} read
 * @returns {string[]} a line for each problem
 */
export function versionProblems(read) {
  const { version } = JSON.parse(read('package.json'));
  const problems = STATED.flatMap(([path, versionIn]) => {
    const stated = versionIn(read(path));
    return stated === version
      ? []
      : [`${path}: version ${stated ?? 'not found'} instead of ${version}`];
  });
  return [...problems, ...changelogProblems(read('CHANGELOG.md'), version)];
}

function changelogProblems(text, version) {
  const entry = text.split('\n').find((line) => line.startsWith(`## [${version}]`));
  if (!entry) return [`CHANGELOG.md: no entry for ${version}`];
  const date = / - (\d{4}-\d{2}-\d{2})$/.exec(entry)?.[1];
  return date && !Number.isNaN(Date.parse(date))
    ? []
    : [`CHANGELOG.md: the entry has no date: ${entry}`];
}
