#!/usr/bin/env node
/**
 * Makes the packages of the client and of matterctl. Needs `npm ci` before.
 *
 *   node scripts/packages.mjs [folder]     writes tarballs; default: into release/
 */
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePackages } from './lib/packages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = resolve(process.argv[2] ?? resolve(root, 'release'));
mkdirSync(folder, { recursive: true });
try {
  for (const tarball of await makePackages(root, folder)) process.stdout.write(`${tarball}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
