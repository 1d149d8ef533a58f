/**
 * Pure modules of the service that the console runs too: one fold, one comparison, one idea of what mends a
 * difference, one rule for cells of CSV files. They are compiled into modules of the browser, one file each, side by side.
 */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const SHARED = [
  ...['domain/matter', 'domain/operation', 'domain/parties', 'domain/decide', 'domain/fold'],
  ...['domain/full-upsert', 'protocol/csv-cell', 'protocol/look-alike', 'queries/compare'],
  ...['queries/reconcile/expected', 'queries/reconcile/find', 'queries/reconcile/repush'],
  ...['queries/reconcile/read-row', 'queries/reconcile/row-content', 'queries/reconcile/doubts'],
  ...['files/encodings', 'files/csv', 'files/columns', 'files/cells', 'files/times'],
];

/** Small: a browser loads all of them. */
const FOR_BROWSERS = {
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  logLevel: 'silent',
};

/** Imports between shared modules stay imports. */
const sideBySide = (modules) => ({
  name: 'side-by-side',
  setup({ onResolve }) {
    const known = new Set(modules.map((name) => basename(name)));
    onResolve({ filter: /^\./ }, ({ path, kind, importer }) => {
      if (kind === 'entry-point') return undefined;
      if (known.has(basename(path))) return { path: `./${basename(path)}.js`, external: true };
      return { errors: [{ text: `${importer} imports ${path}, which is not shared` }] };
    });
  },
});

/**
 * @param {Function} transpile `build` of esbuild
 * @param {string} outdir gets one file per module, by its last name
 * @param {string[]} modules below src
 * @throws if a module imports what is not shared, or what a browser does not have
 */
export const compileBrowserModules = (transpile, root, outdir, modules = SHARED) =>
  transpile({
    absWorkingDir: root,
    entryPoints: modules.map((name) => join(root, 'src', `${name}.ts`)),
    entryNames: '[name]',
    outdir,
    bundle: true,
    plugins: [sideBySide(modules)],
    tsconfig: join(root, 'tsconfig.json'),
    ...FOR_BROWSERS,
  });

/** Where the console's own modules are. */
const CONSOLE = 'public/console';

/** @returns paths of the console's own modules, relative to the folder of the project */
export const consoleModules = (root) =>
  readdirSync(join(root, CONSOLE))
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(CONSOLE, name))
    .sort();

/**
 * Builds what /console serves: its own modules, and in `lib` those of the service that it runs too.
 * @param {Function} transpile `build` of esbuild
 */
export const compileConsole = (transpile, root, outdir) =>
  Promise.all([
    compileBrowserModules(transpile, root, join(outdir, 'lib')),
    transpile({ absWorkingDir: root, entryPoints: consoleModules(root), outdir, ...FOR_BROWSERS }),
  ]);
