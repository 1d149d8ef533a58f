#!/usr/bin/env node
/**
 * npm start, npm test, npm run bench and npm run chaos: installs and builds what a fresh clone lacks, then runs the
 * built command in this process. Node built-ins only: it runs before node_modules exists.
 */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { statusOfOwner, takeLock } from './lib/lock.mjs';
import { SetupError, say } from './lib/progress.mjs';
import { SETUPS, setUp } from './lib/set-up.mjs';

const LOWEST_NODE = [20, 19];
const root = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))));

/** Fails early, with a clear message, if the dependencies do not run on this Node. */
function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantMajor, wantMinor] = LOWEST_NODE;
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return;
  throw new SetupError(
    `Node ${wantMajor}.${wantMinor} or newer is needed, this is ${process.versions.node}. ` +
      'Install a current Node and run the command again.',
  );
}

async function main() {
  const [mode, ...args] = process.argv.slice(2);
  if (!Object.hasOwn(SETUPS, mode ?? '')) {
    throw new SetupError(
      'Usage: node scripts/up.mjs start | test [arguments for jest] | bench [name] [options] | ' +
        'chaos [options]',
    );
  }
  checkNode();
  const lock = mode === 'start' ? await takeLock(root, 'start') : undefined;
  if (mode === 'start' && !lock) {
    const owner = await statusOfOwner(root, 'start');
    throw new SetupError(`Matter Push already runs in this folder: ${owner}. Stop that one first.`);
  }
  const given = mode === 'start' ? process.env : {};
  await setUp(root, mode, { mongo: !given.MONGO_URL, redis: !given.REDIS_URL });
  const { run } = await import(entryOf(mode, mode === 'bench' ? benchmarkIn(args) : undefined));
  if (typeof run !== 'function') throw new SetupError(NO_BENCHMARK);
  process.exitCode = await run({ root, args, announce: (text) => lock?.setStatus(text), say });
  lock?.release();
}

const NO_BENCHMARK =
  'There is no such benchmark. npm run bench compares; npm run bench -- push-log, -- timing, -- million, -- file, -- batch-beside, -- fairness and -- simulate-scaling are others.';

/** @returns the name of the benchmark, which it removes from the arguments; default: `compare` */
function benchmarkIn(args) {
  return existsSync(join(root, 'tools/bench', `${args[0]}.ts`)) ? args.shift() : 'compare';
}

/** @returns the entry file of the command; `name` is the name of the benchmark */
function entryOf(mode, name) {
  if (mode === 'chaos') return pathToFileURL(join(root, 'dist/tools/chaos/main.js')).href;
  if (mode !== 'bench') return pathToFileURL(join(root, 'dist/tools/local', `${mode}.js`)).href;
  const path = join(root, 'dist/tools/bench', `${name}.js`);
  if (/^[a-z-]+$/.test(name ?? '') && existsSync(path)) return pathToFileURL(path).href;
  throw new SetupError(NO_BENCHMARK);
}

// If stdout is a closed pipe or a killed terminal, the process must still drain before it ends.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

main().then(
  () => process.exit(),
  (error) => {
    process.stderr.write(`\n${error instanceof SetupError ? error.message : error?.stack}\n`);
    process.exit(1);
  },
);
