#!/usr/bin/env node
/**
 * Checks that the lockfile pins every dependency, and that each known vulnerability of a dependency is explained.
 * Node built-ins only: it must not run the packages that it checks.
 *
 *   node scripts/audit.mjs lockfile [folder]     exit code 0 or 1
 *   node scripts/audit.mjs advisories [folder]   0, 1, or 75 if the registry gives no answer
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { auditAdvisories, auditLockfile } from './lib/audit-project.mjs';

/** The exit code for "try again": neither passed nor failed. */
const SKIPPED = 75;

const [mode, folder = dirname(dirname(fileURLToPath(import.meta.url)))] = process.argv.slice(2);

/** @returns the exit code */
function report({ skipped, noted = [], problems, fine }) {
  if (skipped !== undefined) {
    process.stdout.write(`SKIPPED: advisories: ${skipped}\n`);
    return SKIPPED;
  }
  for (const line of noted) process.stdout.write(`${line}\n`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) process.stdout.write(`${fine}\n`);
  return problems.length === 0 ? 0 : 1;
}

const audits = { lockfile: auditLockfile, advisories: auditAdvisories };
if (!Object.hasOwn(audits, mode ?? '')) {
  process.stderr.write('Usage: node scripts/audit.mjs lockfile | advisories [folder]\n');
  process.exit(2);
}
process.exitCode = report(audits[mode](folder));
