#!/usr/bin/env node
/** The checks and tests of .ci/run. Node built-ins only: it runs before node_modules exists. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTally } from './lib/ci-tally.mjs';
import { fetchNode24 } from './lib/node-24.mjs';
import { setUp } from './lib/set-up.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const write = (text) => process.stdout.write(text);
const tally = createTally({ cwd: root, write });

/** Runs the checks at the same time: some wait for the network, and none starts a server. */
async function runChecks() {
  const built = mkdtempSync(join(tmpdir(), 'matter-push-ci-build-'));
  const node = process.execPath;
  const audit = [node, 'scripts/audit.mjs'];
  const npm = (script) => ['npm', 'run', '--silent', script];
  const { check } = tally;
  try {
    await Promise.all([
      check('types', npm('typecheck')),
      check('import cycles and layers', npm('layers')),
      check('lint and format', npm('lint')),
      check('build', [node, 'scripts/build.mjs', 'service', join(built, 'dist')]),
      check('release', [
        ...[node, 'scripts/release-check.mjs', '--allow-dirty', join(built, 'release')],
      ]),
      check('lockfile is complete', [
        ...['npm', 'ci', '--dry-run', '--include=dev', '--ignore-scripts'],
      ]),
      check('dependencies: lockfile', [...audit, 'lockfile']),
      check('dependencies: advisories', [...audit, 'advisories']),
    ]);
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
}

async function main() {
  write(`Node ${process.version}\n`);
  const [node24] = await Promise.all([
    tally.step('Node 24', () => fetchNode24(root)),
    tally.step('set-up', () => setUp(root, 'test')),
  ]);
  if (node24) write(`Node ${node24.version} runs some of the tests, too\n`);
  await runChecks();
  await tally.suite('tests', ['npm', 'test']);
  if (node24) {
    // The installed npm and its child processes run on the Node that is first on the PATH.
    const env = { ...process.env, PATH: `${node24.folder}${delimiter}${process.env.PATH}` };
    await tally.suite(`tests on Node ${node24.version}`, ['npm', 'run', 'test:node-24'], env);
  }
  await tally.suite('soak tests', ['npm', 'run', 'test:soak']);
}

try {
  await main();
} catch (error) {
  // A crash counts as one failure. The last line still contains the counts.
  await tally.step('.ci/run', () => {
    throw error;
  });
} finally {
  process.exitCode = tally.end();
}
