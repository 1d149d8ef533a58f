/** Test files that are made for a test, run by jest as this project runs its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/**
 * Runs files with these bodies of a test, in one process, one after the other.
 *
 * @returns by name of the file, how it ended and what jest says of it
 */
export function runFiles(
  bodies: Readonly<Record<string, string>>,
): ReadonlyMap<string, { readonly status: string; readonly message: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-jest-'));
  try {
    return runIn(folder, bodies);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runIn(folder: string, bodies: Readonly<Record<string, string>>) {
  for (const [name, body] of Object.entries(bodies)) {
    const text = `const net = require('node:net'); const { spawn } = require('node:child_process');
      const { once } = require('node:events'); let mine;
      test('passes', async () => { ${body} });`;
    writeFileSync(join(folder, `${name}.test.js`), text);
  }
  const config = {
    rootDir: folder,
    testEnvironment: join(ROOT, 'test/support/jest-environment.cjs'),
    runtime: join(ROOT, 'test/support/jest-runtime.cjs'),
    transform: {},
    cacheDirectory: join(folder, 'cache'),
  };
  const jest = join(ROOT, 'node_modules/jest/bin/jest.js');
  const args = [jest, '--config', JSON.stringify(config), '--json', '--runInBand', '--forceExit'];
  const env = { ...process.env, LEFT_BEHIND_PATIENCE: '500' };
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env });
  if (String(stdout) === '') throw new Error(String(stderr));
  const { testResults } = JSON.parse(String(stdout));
  const results = testResults as { name: string; status: string; message: string }[];
  return new Map(
    results.map(({ name, ...result }) => [name.replace(/.*\/|\.test\.js$/g, ''), result]),
  );
}
