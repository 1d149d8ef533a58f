/** Runs the checks and suites of `.ci/run` and counts what passed and what failed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The exit code for "try again": the check counts neither as passed nor as failed. */
const SKIPPED = 75;

/**
 * @param {{cwd: string, write: (text: string) => void}} options the folder of the project, and where the
 *   results go
 */
export function createTally({ cwd, write }) {
  let passed = 0;
  let failed = 0;

  const run = (command, args, { env, stdio }) =>
    new Promise((resolve) => {
      let output = '';
      const child = spawn(command, args, { cwd, env, stdio });
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (chunk) => {
          output += chunk;
        });
      }
      child.on('error', (error) => resolve({ code: 1, output: `${output}${error.message}\n` }));
      child.on('close', (code, signal) => {
        resolve({ code: code ?? 1, output: signal ? `${output}ended by ${signal}\n` : output });
      });
    });

  /**
   * Runs work that throws on failure, such as a step of the set-up. Counts a failure, but not a success.
   * @returns the result of the work; undefined if it failed
   */
  const step = async (name, work) => {
    try {
      return await work();
    } catch (error) {
      failed += 1;
      write(`\n== ${name}\n${error.message}\n== ${name}: FAILED\n`);
      return undefined;
    }
  };

  /** Runs commands one after the other. Their output appears at the end, as one block. */
  const check = async (name, ...commands) => {
    const outputs = [];
    let code = 0;
    for (const [command, ...args] of commands) {
      const done = await run(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      outputs.push(done.output);
      code = done.code;
      if (code !== 0) break;
    }
    if (code === 0) passed += 1;
    else if (code !== SKIPPED) failed += 1;
    const verdict = code === 0 || code === SKIPPED ? '' : `== ${name}: FAILED\n`;
    write(`\n== ${name}\n${outputs.join('')}${verdict}`);
  };

  /** Runs one suite of jest and counts each of its tests. jest reports while it runs. */
  const suite = async (name, [command, ...args], env = process.env) => {
    const began = Date.now();
    const folder = mkdtempSync(join(tmpdir(), 'matter-push-ci-'));
    const file = join(folder, 'results.json');
    write(`\n== ${name}\n`);
    try {
      const results = ['--', '--json', `--outputFile=${file}`];
      const { code } = await run(command, [...args, ...results], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const { skipped, ...counts } = countsOf(readResults(file), code);
      passed += counts.passed;
      failed += counts.failed;
      for (const title of skipped) write(`SKIPPED: ${title}\n`);
      const seconds = Math.round((Date.now() - began) / 1000);
      write(`== ${name}: ${counts.passed} passed, ${counts.failed} failed, `);
      write(`${skipped.length} skipped, ${seconds} s\n`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  return {
    step,
    check,
    suite,
    /** Writes the last line. @returns the exit code */
    end: () => {
      write(`\n${passed} passed, ${failed} failed\n`);
      return failed === 0 ? 0 : 1;
    },
  };
}

function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // jest ended before it wrote its results
  }
}

/**
 * @param {object | undefined} results the output of jest with `--json`
 * @param {number} exitCode a run that failed without a failed test (a crash, a server that did not start)
 *   counts as one
 */
export function countsOf(results, exitCode) {
  const { numPassedTests = 0, numFailedTests = 0, numRuntimeErrorTestSuites = 0 } = results ?? {};
  const counted = numFailedTests + numRuntimeErrorTestSuites;
  const isBroken = results === undefined || exitCode !== 0;
  const tests = (results?.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
  return {
    passed: numPassedTests,
    failed: counted === 0 && isBroken ? 1 : counted,
    skipped: tests.filter(({ status }) => status === 'pending').map(({ fullName }) => fullName),
  };
}
