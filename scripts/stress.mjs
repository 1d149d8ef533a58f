#!/usr/bin/env node
/**
 * npm run test:stress: shows that the tests do not depend on the speed of the machine. It runs the tests alone, next
 * to busy loops, and on one core. It prints the duration of each run.
 */
import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { canPin, measure, planOf, SITUATIONS, SUITES } from './lib/stress.mjs';

const USAGE = `Usage: npm run test:stress -- [options] [arguments for jest]
  --only busy,pinned,idle   situations; all of them by default
  --suite test|soak|all     by default all
  --runs N                  of each suite in each situation; by default 2 of test, 1 of soak
`;
const COMMANDS = { test: ['npm', 'test'], soak: ['npm', 'run', 'test:soak'] };
const root = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))));

/** @throws Error if an option is unknown or has an unknown value */
function readOptions() {
  const { values, positionals } = parseArgs({
    options: {
      only: { type: 'string' },
      suite: { type: 'string', default: 'all' },
      runs: { type: 'string' },
    },
    allowPositionals: true,
  });
  const only = values.only?.split(',') ?? [];
  const unknown = only.find((situation) => !SITUATIONS.includes(situation));
  if (unknown !== undefined) throw new Error(`there is no situation ${unknown}`);
  if (![...SUITES, 'all'].includes(values.suite)) throw new Error(`no suite ${values.suite}`);
  if (values.runs !== undefined && !/^[1-9]\d*$/.test(values.runs)) {
    throw new Error('--runs must be a whole number above 0');
  }
  const runs = values.runs === undefined ? undefined : Number(values.runs);
  return { plan: planOf({ only, runs, suite: values.suite }), jestArgs: positionals };
}

const seconds = (ms) => `${Math.round(ms / 1_000)} s`;
const nameOf = ({ suite, situation, run }) => `${suite} ${situation} ${run}`;

/** The lines in which jest reports failed tests, and its summary. */
function printFailures(logFile) {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  const reported = lines.filter((line) => /^(FAIL|Tests:|Test Suites:)| ● /.test(line));
  process.stdout.write(`${[...new Set(reported)].join('\n')}\nThe whole output: ${logFile}\n`);
}

async function runAll({ plan, jestArgs }, signal) {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-stress-'));
  const isPinnable = canPin();
  const results = [];
  for (const one of plan) {
    if (signal.aborted) break;
    if (one.situation === 'pinned' && !isPinnable) {
      results.push({ ...one, state: 'SKIPPED: no taskset' });
      continue;
    }
    process.stdout.write(`== ${nameOf(one)}\n`);
    const logFile = join(folder, `${nameOf(one).replaceAll(' ', '-')}.log`);
    const more = jestArgs.length > 0 ? ['--', ...jestArgs] : [];
    const command = [...COMMANDS[one.suite], ...more];
    const { situation } = one;
    const took = await measure(command, { situation, logFile, cwd: root, signal });
    const state = took.exitCode === 0 ? 'passed' : `FAILED (${took.exitCode})`;
    process.stdout.write(`${state}: ${seconds(took.wallMs)}, CPU ${seconds(took.cpuMs)}\n`);
    if (took.exitCode !== 0) printFailures(logFile);
    results.push({ ...one, state, ...took });
  }
  return results;
}

function table(results) {
  const rows = results.map(({ suite, situation, run, state, wallMs, cpuMs }) => [
    ...[suite, situation, String(run), state],
    ...(wallMs === undefined ? ['', ''] : [seconds(wallMs), seconds(cpuMs)]),
  ]);
  const all = [['suite', 'situation', 'run', 'result', 'wall', 'CPU'], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column])).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

async function main() {
  const options = readOptions();
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => interrupted.abort());
  }
  const results = await runAll(options, interrupted.signal);
  process.stdout.write(`\n${table(results)}`);
  const failed = results.filter(({ state }) => state.startsWith('FAILED')).length;
  process.stdout.write(`\n${failed} of ${options.plan.length} runs failed\n`);
  return interrupted.signal.aborted ? 130 : Math.min(failed, 1);
}

main().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  },
);
