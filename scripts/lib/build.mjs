/** Compiles to dist/ when the sources differ from those of the last build. Types are checked by `npm run typecheck`. */
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { embeddedFolder } from './folder.mjs';
import { bundlePages, pageFiles } from './pages.mjs';
import { SetupError, say } from './progress.mjs';

const SERVICE = ['src', 'workers', 'tools/client', 'tools/matterctl'];
const START = [...SERVICE, 'tools/local'];
/**
 * The folders of each build.
 * - service: a deployment and the Docker image
 * - start: `npm start`
 * - all: `npm test`, `npm run bench` and `npm run chaos`
 */
export const BUILDS = {
  service: SERVICE,
  start: START,
  all: [...START, 'tools/harness', 'tools/bench', 'tools/chaos'],
};

/** Files beside the sources on which a build depends. */
const SETTINGS = [
  ...['tsconfig.json', 'package.json', 'package-lock.json'],
  ...['scripts/lib/pages.mjs', 'scripts/lib/manual.mjs'],
];
const STAMP = 'built-from';
/**
 * esbuild exports every name through two getters. Plain properties cost a caller 6 ns less, and a push crosses
 * hundreds of them. The copy is safe because no module reassigns an export and no imports form a cycle. Node finds
 * the names for `import()` in the text of the file: after `module.exports =` it would not find those of `export *`.
 */
const PLAIN_EXPORTS =
  'module["exports"] = Object.defineProperty({ ...module.exports }, "__esModule", { value: true });';

/** @param suffix `.ts`: compiled; `.lua`: Redis scripts, which are copied next to the module that loads them */
function sourceFiles(root, extent, suffix = '.ts') {
  return BUILDS[extent]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
    )
    .filter((name) => name.endsWith(suffix))
    .sort();
}

/** A hash over names and contents, so that a removed or an older file counts as a change too. */
export function fingerprint(root, extent) {
  const hash = createHash('sha256').update(readFileSync(new URL(import.meta.url)));
  const sources = [...sourceFiles(root, extent), ...sourceFiles(root, extent, '.lua')];
  for (const name of [...SETTINGS, ...sources, ...pageFiles(root)]) {
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** The build in dist/ may contain more than this command needs, but it must be complete. */
function isUpToDate(root, extent) {
  const stamp = readStamp(join(root, 'dist', STAMP));
  const built = BUILDS[stamp?.extent];
  return (
    built !== undefined &&
    BUILDS[extent].every((folder) => built.includes(folder)) &&
    stamp.hash === fingerprint(root, stamp.extent)
  );
}

function readStamp(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined; // absent, or of an earlier version
  }
}

/**
 * Compiles one build into a folder.
 * @param {'service' | 'start' | 'all'} extent
 * @throws {SetupError} if a source cannot be compiled
 */
export async function compile(root, extent, outdir) {
  // The hash is computed before the build. If a source changes during the build, the next build then starts anew.
  const hash = fingerprint(root, extent);
  const transpile = transpilerOf(root);
  const parts = await Promise.allSettled([
    transpile(forNode(root, sourceFiles(root, extent), outdir)),
    bundlePages(transpile, root, join(outdir, 'browser')),
  ]);
  // Both parts have ended: the caller can remove the folder, because neither part writes to it any more.
  const failed = parts.find(({ status }) => status === 'rejected');
  if (failed) throw new SetupError(`The build failed: ${failed.reason.message}`);
  for (const name of sourceFiles(root, extent, '.lua'))
    cpSync(join(root, name), join(outdir, name));
  writeFileSync(join(outdir, STAMP), JSON.stringify({ extent, hash }));
}

/** Resolves esbuild from the folder of the project, where the set-up may just have installed it. */
const transpilerOf = (root) => createRequire(join(root, 'package.json'))('esbuild').build;

/**
 * Finds what a module imports, directly or indirectly.
 * @returns {Promise<{ modules: string[], packages: string[] }>} sources with the entry file, and names of packages
 */
export async function reachedFrom(root, entry) {
  const { metafile } = await transpilerOf(root)({
    ...forNode(root, [entry], join(root, 'dist')),
    ...{ bundle: true, packages: 'external', metafile: true, write: false },
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  const packages = imported.flatMap(({ external, path }) =>
    external && !path.startsWith('node:') ? [/^(?:@[^/]+\/)?[^/]+/.exec(path)[0]] : [],
  );
  return { modules: Object.keys(metafile.inputs).sort(), packages: [...new Set(packages)].sort() };
}

/** Compiles some modules without source maps, because the sources are not beside them. */
export const compileModules = (root, modules, outdir) =>
  transpilerOf(root)({ ...forNode(root, modules, outdir), sourcemap: false });

/** @returns the Redis scripts in the folders of the modules, which load them */
export function scriptsBeside(root, modules) {
  const folders = [...new Set(modules.map((name) => dirname(name)))];
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.lua'))
      .map((name) => join(folder, name)),
  );
}

const forNode = (root, entryPoints, outdir) => ({
  absWorkingDir: root,
  entryPoints,
  outbase: root,
  outdir,
  format: 'cjs',
  platform: 'node',
  target: 'node20.19',
  tsconfig: join(root, 'tsconfig.json'),
  sourcemap: true,
  sourcesContent: false,
  footer: { js: PLAIN_EXPORTS },
  logLevel: 'silent',
});

/**
 * Builds in a folder of `.embedded/`, which then replaces dist/. Output of removed sources disappears, and a running
 * instance never reads an incomplete folder.
 * @param {'service' | 'start' | 'all'} extent
 */
export async function build(root, extent) {
  if (isUpToDate(root, extent)) {
    say('The build is up to date');
    return;
  }
  say('Building');
  const folder = mkdtempSync(join(embeddedFolder(root), 'build-'));
  try {
    const next = join(folder, 'dist');
    await compile(root, extent, next);
    swapIn(join(root, 'dist'), next, join(folder, 'old'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function swapIn(dist, next, old) {
  try {
    renameSync(dist, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(next, dist);
}
