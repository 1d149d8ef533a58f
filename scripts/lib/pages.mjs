/**
 * Bundles the pages of `browser`. The index.html of a page names its entry files; the build writes the page with their
 * hashed names. Modules of the service that a page imports become part of its bundle.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { MANUAL_SOURCES, writeManual } from './manual.mjs';

const BROWSER = 'browser';
const PAGES = ['console', 'docs', 'operator'];
const OPTIONS = {
  bundle: true,
  splitting: true,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  loader: { '.svg': 'copy' },
  minify: true,
  charset: 'utf8',
  metafile: true,
  logLevel: 'silent',
};
/** The name of an entry file in the tag of a style sheet, an icon or a script. */
const ENTRY = /(?<=<(?:link|script)\b[^>]*\s(?:href|src)=")[^"]+/g;

/** @returns the files of the pages, relative to the folder of the project */
export const pageFiles = (root) => [
  ...readdirSync(join(root, BROWSER), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(root, join(file.parentPath, file.name)))
    .sort(),
  ...MANUAL_SOURCES,
];

/**
 * Writes a folder for each page: its index.html and the hashed files. The folder `manual` contains pages of `docs`.
 * @param {Function} bundle `build` of esbuild
 * @throws if a page imports a file that does not exist, or a module of Node
 */
export const bundlePages = (bundle, root, outdir) =>
  Promise.all([
    ...PAGES.map((page) => bundlePage(bundle, root, { page, outdir: join(outdir, page) })),
    writeManual(bundle, OPTIONS, root, join(outdir, 'manual')),
  ]);

async function bundlePage(bundle, root, { page, outdir }) {
  const source = join(BROWSER, page, 'index.html');
  const html = readFileSync(join(root, source), 'utf8');
  const entryOf = (name) => join(dirname(source), name);
  const entryPoints = html.match(ENTRY).map(entryOf);
  const tsconfig = join(root, 'tsconfig.json');
  const { metafile } = await bundle({
    ...OPTIONS,
    ...{ absWorkingDir: root, entryPoints, outdir, tsconfig },
  });
  const { outputs } = metafile;
  const builtFrom = (entry) =>
    Object.keys(outputs).find(
      (name) => (outputs[name].entryPoint ?? onlyInput(outputs[name])) === entry,
    );
  const addressOf = (name) => `${page}/${basename(name)}`;
  const preloads = importedBy(builtFrom(entryOf('main.js')), outputs)
    .map((name) => `    <link rel="modulepreload" href="${addressOf(name)}" />\n`)
    .join('');
  const built = html
    .replace(ENTRY, (name) => addressOf(builtFrom(entryOf(name))))
    .replace(/^ *<script/m, (script) => preloads + script);
  mkdirSync(outdir, { recursive: true });
  writeFileSync(join(outdir, 'index.html'), built);
}

/** A copied file has no entry point. */
const onlyInput = ({ inputs }) => Object.keys(inputs).join();

/** The modules that a browser needs before it can run an entry file. */
function importedBy(entry, outputs) {
  const found = new Set([entry]);
  // The loop also visits the modules that it adds to the set.
  for (const name of found) {
    for (const { path, kind } of outputs[name].imports) {
      if (kind === 'import-statement') found.add(path);
    }
  }
  found.delete(entry);
  return [...found];
}
