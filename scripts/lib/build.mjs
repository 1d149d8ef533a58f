/** Compiles to dist/ when the sources differ from those of the last build. */
import { createHash } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { embeddedFolder } from './folder.mjs';
import { runQuietly, SetupError, say } from './progress.mjs';

const SOURCES = ['src', 'workers', 'tools'];
const SETTINGS = ['tsconfig.json', 'package.json', 'package-lock.json'];
const STAMP = 'built-from';
const PROBE = 'tools/local/start.js';

function sourceFiles(root) {
  const found = SOURCES.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  );
  return [...SETTINGS, ...found].filter((name) => /\.(ts|json)$/.test(name)).sort();
}

/** A hash over names and contents, so that a removed or an older file counts as a change too. */
export function fingerprint(root) {
  const hash = createHash('sha256');
  for (const name of sourceFiles(root)) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update('\0');
  }
  return hash.digest('hex');
}

function upToDate(dist, wanted) {
  try {
    // A build made by hand is newer than our stamp, and of sources that we do not know.
    const byHand = statSync(join(dist, PROBE)).mtimeMs > statSync(join(dist, STAMP)).mtimeMs;
    return !byHand && readFileSync(join(dist, STAMP), 'utf8') === wanted;
  } catch {
    return false;
  }
}

/**
 * Builds beside dist/ and swaps: removed sources leave nothing behind, and a running instance
 * never sees a half-written folder.
 */
export async function build(root) {
  const dist = join(root, 'dist');
  const wanted = fingerprint(root);
  if (upToDate(dist, wanted)) {
    say('The build is up to date');
    return;
  }
  say('Building');
  const folder = mkdtempSync(join(embeddedFolder(root), 'build-'));
  try {
    const next = join(folder, 'dist');
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    // One checker: several would each work out the same large types, which is most of the work.
    const project = ['-p', join(root, 'tsconfig.json'), '--checkers', '1'];
    const args = [tsc, ...project, '--outDir', next];
    const done = await runQuietly(process.execPath, args, { cwd: root, label: 'building' });
    if (!done.ok) throw new SetupError(`${done.output}\n\nThe build failed: see the errors above.`);
    writeFileSync(join(next, STAMP), wanted);
    try {
      renameSync(dist, join(folder, 'old'));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
    renameSync(next, dist);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
