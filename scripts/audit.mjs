#!/usr/bin/env node
/**
 * Are the dependencies what they were when somebody looked at them, and is anything known against
 * them? Node built-ins only: it judges what is installed, so it uses none of it.
 *
 *   node scripts/audit.mjs lockfile [folder]     exit code 0 or 1
 *   node scripts/audit.mjs advisories [folder]   0, 1, or 75 where the registry cannot be asked
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judgeAdvisories } from './lib/audit-advisories.mjs';
import { installProblems, lockProblems, rangeProblems } from './lib/audit-lockfile.mjs';
import { npmCommand } from './lib/node-modules.mjs';

/** "Try again": neither passed nor failed. */
const SKIPPED = 75;
const INSTALLERS = [
  'package.json',
  'Dockerfile',
  'docker-compose.yml',
  'Procfile',
  '.ci',
  'scripts',
];

const [mode, folder = dirname(dirname(fileURLToPath(import.meta.url)))] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name), 'utf8');
const EXPLANATIONS = 'scripts/audit-explained.json';
const explained = JSON.parse(read(EXPLANATIONS));

function auditLockfile() {
  const lock = JSON.parse(read('package-lock.json'));
  const problems = [
    ...lockProblems(lock, explained.installScripts),
    ...rangeProblems(JSON.parse(read('package.json'))),
    ...installProblems(installers(), explained.looseInstalls),
  ];
  const count = Object.keys(lock.packages ?? {}).length - 1;
  return report(problems, `${count} packages: locked, hashed, exact`);
}

/** Texts of the repository that may install something, with their paths; what quotes them may not. */
function installers() {
  return INSTALLERS.filter((name) => existsSync(join(folder, name))).flatMap((name) => {
    const inside = statSync(join(folder, name)).isFile() ? [name] : filesIn(name);
    return inside.filter((path) => path !== EXPLANATIONS).map((path) => [path, read(path)]);
  });
}

const filesIn = (name) =>
  readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

function auditAdvisories() {
  const [command, ...first] = npmCommand();
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, timeout: 120_000 };
  const { stdout, error } = spawnSync(command, [...first, 'audit', '--json'], options);
  const verdict = judgeAdvisories(stdout || String(error?.message ?? ''), explained.advisories);
  if ('skipped' in verdict) {
    process.stdout.write(`SKIPPED: advisories: ${verdict.skipped}\n`);
    return SKIPPED;
  }
  for (const line of verdict.noted) process.stdout.write(`${line}\n`);
  return report(verdict.problems, 'nothing unexplained is known against them');
}

function report(problems, fine) {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) process.stdout.write(`${fine}\n`);
  return problems.length === 0 ? 0 : 1;
}

const audits = { lockfile: auditLockfile, advisories: auditAdvisories };
if (!Object.hasOwn(audits, mode ?? '')) {
  process.stderr.write('Usage: node scripts/audit.mjs lockfile | advisories [folder]\n');
  process.exit(2);
}
process.exitCode = audits[mode]();
