#!/usr/bin/env node
/**
 * Compiles the sources. Node built-ins and esbuild only.
 *
 *   node scripts/build.mjs [service | start | all] [folder]     default: service, into dist/
 */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILDS, build, compile } from './lib/build.mjs';
import { waitForLock } from './lib/lock.mjs';
import { say } from './lib/progress.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [extent = 'service', folder] = process.argv.slice(2);
if (!Object.hasOwn(BUILDS, extent)) {
  process.stderr.write('Usage: node scripts/build.mjs [service | start | all] [folder]\n');
  process.exit(2);
}
const lock = await waitForLock(root, 'prepare', () => say('Waiting for another set-up here'));
try {
  await (folder ? compile(root, extent, resolve(folder)) : build(root, extent));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  lock.release();
}
