/** Installs the node modules of package-lock.json when node_modules holds something else. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runQuietly, SetupError, say } from './progress.mjs';

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined; // absent, or cut short by an interrupted install
  }
}

/**
 * Whether node_modules is what the lockfile asks for. npm leaves out the optional packages of
 * other platforms, so an optional package may be missing, but not differ.
 */
export function matchesLock(wanted, installed) {
  if (!wanted || !installed) return false;
  const same = ([name, entry]) => {
    if (name === '') return true;
    const found = installed[name];
    if (!found) return entry.optional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  };
  return Object.entries(wanted).every(same) && Object.keys(installed).every((n) => n in wanted);
}

/** The npm that runs us, else the one on PATH. */
export function npmCommand(env = process.env) {
  const path = env.npm_execpath;
  return path && basename(path) === 'npm-cli.js' ? [process.execPath, path] : ['npm'];
}

/** @throws {SetupError} with npm's own last words */
export async function installModules(root) {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (!wanted) throw new SetupError('package-lock.json is missing or broken: restore it with git.');
  if (matchesLock(wanted, packagesOf(join(root, 'node_modules/.package-lock.json')))) {
    say('Node modules are up to date');
    return;
  }
  const count = Object.values(wanted).filter((entry) => !entry.optional).length;
  say(`Installing ${count} node modules from package-lock.json`);
  const [command, ...first] = npmCommand();
  const args = [...first, 'ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  const install = () => runQuietly(command, args, { cwd: root, label: 'installing node modules' });
  let done = await install();
  if (!done.ok) {
    // The npm of an earlier set-up that was killed may still be writing there.
    say('npm ci failed, trying once more');
    done = await install();
  }
  if (!done.ok) {
    throw new SetupError(
      `${done.output}\n\nnpm ci failed. Check the network (and npm's registry setting), ` +
        'then run the command again.',
    );
  }
  say('Node modules installed');
}
