/** Runs the two audits in the folder of a project. Node built-ins only. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { judgeAdvisories } from './audit-advisories.mjs';
import { installProblems, lockProblems, rangeProblems } from './audit-lockfile.mjs';
import { npmCommand } from './node-modules.mjs';

const INSTALLERS = [
  'package.json',
  'Dockerfile',
  'docker-compose.yml',
  'docker-compose.monitoring.yml',
  'Procfile',
  '.ci',
  'scripts',
];
const EXPLANATIONS = 'scripts/audit-explained.json';

const read = (folder, name) => readFileSync(join(folder, name), 'utf8');
const explanations = (folder) => JSON.parse(read(folder, EXPLANATIONS));

/**
 * @param {string} folder
 * @returns {{ problems: string[], fine: string }} fine: the message if there are no problems
 */
export function auditLockfile(folder) {
  const explained = explanations(folder);
  const lock = JSON.parse(read(folder, 'package-lock.json'));
  const problems = [
    ...lockProblems(lock, explained.installScripts),
    ...rangeProblems(JSON.parse(read(folder, 'package.json'))),
    ...installProblems(installers(folder), explained.looseInstalls),
  ];
  const count = Object.keys(lock.packages ?? {}).length - 1;
  return { problems, fine: `${count} packages: locked, hashed, exact` };
}

/** @returns paths and texts of the files that may install something, without the file of explanations */
function installers(folder) {
  return INSTALLERS.filter((name) => existsSync(join(folder, name))).flatMap((name) => {
    const inside = statSync(join(folder, name)).isFile() ? [name] : filesIn(folder, name);
    return inside.filter((path) => path !== EXPLANATIONS).map((path) => [path, read(folder, path)]);
  });
}

const filesIn = (folder, name) =>
  readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/**
 * @param {string} folder
 * @returns {{ problems: string[], noted: string[], fine: string } | { skipped: string }} skipped: why the registry
 *   gave no answer
 */
export function auditAdvisories(folder) {
  const [command, ...first] = npmCommand();
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, timeout: 120_000 };
  const { stdout, error } = spawnSync(command, [...first, 'audit', '--json'], options);
  const answer = stdout || String(error?.message ?? '');
  const verdict = judgeAdvisories(answer, explanations(folder).advisories);
  return 'skipped' in verdict
    ? verdict
    : { ...verdict, fine: 'nothing unexplained is known against them' };
}
