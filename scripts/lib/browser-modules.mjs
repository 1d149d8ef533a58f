/**
 * Pure modules of the service that the console runs too: one fold, one comparison, one idea of what mends a
 * difference. They are compiled into modules of the browser, one file each, side by side.
 */
import { basename, join } from 'node:path';

const SHARED = [
  ...['domain/matter', 'domain/operation', 'domain/parties', 'domain/decide', 'domain/fold'],
  ...['domain/full-upsert', 'queries/compare'],
  ...['queries/reconcile/expected', 'queries/reconcile/find', 'queries/reconcile/repush'],
];

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
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    tsconfig: join(root, 'tsconfig.json'),
    logLevel: 'silent',
  });
