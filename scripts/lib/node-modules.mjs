/** Installs the node modules of package-lock.json if node_modules lacks any of them. */
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
/** The devDependencies that a set-up needs besides all dependencies; `all`: all devDependencies. */
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
 * Checks that node_modules has the wanted packages, and only packages of the lockfile. npm omits optional packages of
 * other platforms, so an optional package may be missing, but its version must not differ.
 * @param {object} wanted packages of a lockfile, by folder
 * @param {object} known packages of the whole lockfile
 * @param {object | undefined} installed packages in node_modules
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

/** @returns the npm that started this process, otherwise the npm on PATH */
export function npmCommand(env = process.env) {
  const path = env.npm_execpath;
  return path && basename(path) === 'npm-cli.js' ? [process.execPath, path] : ['npm'];
}

/**
 * @param {'start' | 'bench' | 'all'} extent other modules stay if nothing is missing; an installation removes them
 * @throws {SetupError} with the last output of npm
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

/** Installs into a separate folder: npm ci first empties node_modules, and a service may be running from it. */
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
  // Either this registry has its archives on another host, or the npm of a killed set-up still writes here.
  say('npm ci failed, trying once more');
  return install(wanted);
}

function swapIn(root, scratch) {
  const modules = join(root, 'node_modules');
  if (existsSync(modules)) renameSync(modules, join(scratch, 'old'));
  renameSync(join(scratch, 'node_modules'), modules);
}
