/** What .ci/run counts: what passed, what failed, and each crash as one failure. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
const NODE = process.execPath;

/** Runs statements that have a tally; the module is of the other kind. */
function tally(statements: string, cwd = ROOT) {
  const script = `import(${JSON.stringify(join(ROOT, 'scripts/lib/ci-tally.mjs'))})
    .then(async ({ createTally, countsOf }) => {
      const node = process.execPath;
      const tally = createTally({ cwd: process.cwd(), write: (text) => process.stdout.write(text) });
      ${statements}
      process.exitCode = tally.end();
    });`;
  const { status, stdout, stderr } = spawnSync(NODE, ['-e', script], { cwd, encoding: 'utf8' });
  return { status, stdout, stderr, last: stdout.trimEnd().split('\n').at(-1) };
}

const exits = (code: number) => `[node, '-e', 'console.log("out"); process.exitCode = ${code}']`;

test('checks that pass are counted, and their output is shown', () => {
  const { status, stdout, last } = tally(
    `await Promise.all([tally.check('one', ${exits(0)}), tally.check('two', ${exits(0)})]);`,
  );
  expect([status, last]).toEqual([0, '2 passed, 0 failed']);
  expect(stdout).toContain('== one\nout\n');
  expect(stdout).not.toContain('FAILED');
});

test.each([
  ['a check that fails', `await tally.check('it', ${exits(3)});`],
  ['a check whose first command fails', `await tally.check('it', ${exits(1)}, ${exits(0)});`],
  ['a check whose last command fails', `await tally.check('it', ${exits(0)}, ${exits(1)});`],
  ['a check that is killed', `await tally.check('it', ['sh', '-c', 'kill -KILL $$']);`],
  ['a check that does not exist', `await tally.check('it', ['./no-such-command']);`],
  ['a step that throws', `await tally.step('it', async () => { throw new Error('why'); });`],
])('%s is one failure', (_name, statements) => {
  const { status, stdout, last } = tally(statements);
  expect([status, last]).toEqual([1, '0 passed, 1 failed']);
  expect(stdout).toContain('== it: FAILED\n');
});

test('a check that could not be made counts neither way', () => {
  expect(tally(`await tally.check('it', ${exits(75)});`)).toMatchObject({
    status: 0,
    last: '0 passed, 0 failed',
  });
});

/** A suite that writes these results where jest would, and ends with this exit code. */
const suite = (results: string, code: number) => `await tally.suite('s', [node, '-e',
  'const [, , file] = process.argv[process.argv.length - 1].match(/(--outputFile=)(.*)/);' +
  ${JSON.stringify(results && `require("fs").writeFileSync(file, ${JSON.stringify(results)});`)} +
  'process.exitCode = ${code};']);`;
const results = (passed: number, failed: number, broken = 0) =>
  JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    numRuntimeErrorTestSuites: broken,
    testResults: [{ assertionResults: [{ status: 'pending', fullName: 'left out' }] }],
  });

test.each([
  ['that passes', results(3, 0), 0, '3 passed, 0 failed'],
  ['with failures', results(3, 2), 1, '3 passed, 2 failed'],
  ['with a file that cannot be loaded', results(3, 0, 1), 1, '3 passed, 1 failed'],
  ['that fails without a failed test', results(3, 0), 1, '3 passed, 1 failed'],
  ['that crashes before it has results', '', 1, '0 passed, 1 failed'],
  ['that ends without results', '', 0, '0 passed, 1 failed'],
  ['whose results are cut short', '{"numPassedTests":', 0, '0 passed, 1 failed'],
])('a suite %s', (_name, text, code, last) => {
  const run = tally(suite(text, code));
  expect(run.stderr).toBe('');
  expect(run.last).toBe(last);
  if (text.endsWith('}')) expect(run.stdout).toContain('SKIPPED: left out\n');
});
