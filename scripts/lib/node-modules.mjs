/** Installs node modules of package-lock.json where node_modules lacks any of them. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { embeddedFolder } from './folder.mjs';
import { lockSubset, REGISTRY, withArchives } from './lock-subset.mjs';
import { runQuietly, SetupError, say } from './progress.mjs';

/** The devDependencies of the build. */
const BUILD = ['esbuild', 'marked', '@noble/hashes', '@preact/signals', 'preact'];
/** The devDependencies that a set-up needs beside all dependencies; `all`: every one of them. */
export const DEV_MODULES = {
  start: BUILD,
  bench: [...BUILD, 'groupmq', 'pure-rand'],
};

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // absent, or cut short by an interrupted install
  }
}

/**
 * Whether node_modules has what is wanted, and nothing that the lockfile does not know. npm leaves
 * out the optional packages of other platforms, so an optional package may be missing, but not differ.
 * @param {object} wanted packages of a lockfile, by folder
 * @param {object} known those of the whole lockfile
 * @param {object | undefined} installed those of node_modules
 */
export function hasWanted(wanted, known, installed) {
  if (!installed) return false;
  const isKnown = ([folder, { version, integrity }]) =>
    known[folder]?.version === version && known[folder].integrity === integrity;
  return (
    Object.keys(wanted).every((name) => name === '' || installed[name] || wanted[name].optional) &&
    Object.entries(installed).every(isKnown)
  );
}

/** The npm that runs us, else the one on PATH. */
export function npmCommand(env = process.env) {
  const path = env.npm_execpath;
  return path && basename(path) === 'npm-cli.js' ? [process.execPath, path] : ['npm'];
}

/**
 * @param {'start' | 'bench' | 'all'} extent modules beyond it stay if they are there
 * @throws {SetupError} with npm's own last words
 */
export async function installModules(root, extent) {
  const lock = readJson(join(root, 'package-lock.json'));
  if (!lock?.packages) {
    throw new SetupError('package-lock.json is missing or broken: restore it with git.');
  }
  const scratch = join(embeddedFolder(root), 'modules');
  rmSync(scratch, { recursive: true, force: true }); // of a set-up that was killed
  const wanted = extent === 'all' ? lock : lockSubset(lock, DEV_MODULES[extent]);
  const installed = readJson(join(root, 'node_modules/.package-lock.json'))?.packages;
  if (hasWanted(wanted.packages, lock.packages, installed)) {
    say('Node modules are up to date');
    return;
  }
  const count = Object.values(wanted.packages).filter((entry) => !entry.optional).length;
  say(`Installing ${count} node modules from package-lock.json`);
  try {
    const done = await installBeside(root, wanted, scratch);
    if (!done.ok) {
      throw new SetupError(
        `${done.output}\n\nnpm ci failed. Check the network (and npm's registry setting), ` +
          'then run the command again.',
      );
    }
    swapIn(root, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  say('Node modules installed');
}

/** In a folder of its own: npm ci empties node_modules first, and a service may be running from it. */
async function installBeside(root, wanted, scratch) {
  const [command, ...first] = npmCommand();
  const args = [...first, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  const install = (lock, ...options) => {
    rmSync(scratch, { recursive: true, force: true });
    mkdirSync(scratch);
    const { devDependencies } = lock.packages[''];
    const manifest = { ...readJson(join(root, 'package.json')), devDependencies };
    writeFileSync(join(scratch, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(scratch, 'package-lock.json'), JSON.stringify(lock));
    copyFileSync(join(root, '.npmrc'), join(scratch, '.npmrc'));
    const label = 'installing node modules';
    return runQuietly(command, [...args, ...options], { cwd: scratch, label });
  };
  const done = await install(withArchives(wanted), `--replace-registry-host=${REGISTRY}`);
  if (done.ok) return done;
  // This registry keeps its archives elsewhere, or the npm of a set-up that was killed still writes here.
  say('npm ci failed, trying once more');
  return install(wanted);
}

function swapIn(root, scratch) {
  const modules = join(root, 'node_modules');
  if (existsSync(modules)) renameSync(modules, join(scratch, 'old'));
  renameSync(join(scratch, 'node_modules'), modules);
}
