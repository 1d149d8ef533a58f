#!/usr/bin/env node
/**
 * Builds a release and checks it. Needs `npm ci` before.
 *
 *   node scripts/release-check.mjs [--allow-dirty] [folder]     default: into release/
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SetupError } from './lib/progress.mjs';
import { buildRelease, uncommitted, versionProblems } from './lib/release.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({
  options: { 'allow-dirty': { type: 'boolean' } },
  allowPositionals: true,
});
const folder = resolve(positionals[0] ?? join(root, 'release'));

try {
  const problems = versionProblems((path) => readFileSync(join(root, path), 'utf8'));
  if (!values['allow-dirty'])
    problems.push(...uncommitted(root).map((line) => `not committed: ${line}`));
  if (problems.length > 0) throw new SetupError(problems.join('\n'));
  for (const file of await buildRelease(root, folder)) process.stdout.write(`${file}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof SetupError ? error.message : error.stack}\n`);
  process.exitCode = 1;
}
