/** Installs and builds what a fresh clone lacks: node modules, servers and a build. */
import { build } from './build.mjs';
import { waitForLock } from './lock.mjs';
import { installModules } from './node-modules.mjs';
import { say } from './progress.mjs';
import { chooseServers } from './servers.mjs';

/** The node modules and the build that each command needs. */
export const SETUPS = {
  start: { modules: 'start', extent: 'start' },
  test: { modules: 'all', extent: 'all' },
  bench: { modules: 'bench', extent: 'all' },
  chaos: { modules: 'bench', extent: 'all' },
};

/**
 * Two commands may start at the same time in one folder. Only one of them installs and builds.
 * @param {string} root the folder of the project
 * @param {keyof typeof SETUPS} command
 * @param {{mongo: boolean, redis: boolean}} needed which servers have no given URL
 * @throws {SetupError} with the reason for the user
 */
export async function setUp(root, command, needed = { mongo: true, redis: true }) {
  const lock = await waitForLock(root, 'prepare', () => say('Waiting for another set-up here'));
  try {
    const { modules, extent } = SETUPS[command];
    const built = installModules(root, modules).then(() => build(root, extent));
    // Both parts run at the same time and to their end: if one fails, the other does not keep running unattended.
    for (const step of await Promise.allSettled([built, chooseServers(root, needed)])) {
      if (step.status === 'rejected') throw step.reason;
    }
  } finally {
    lock.release();
  }
}
