/**
 * Pure modules of the service that the console runs too: one fold, one comparison, one idea of what mends a
 * difference. They are served as the compiler left them; what is CommonJS in them becomes a module of the browser.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Below dist/src; the console calls each by its last name. */
const SHARED = [
  ...['domain/matter', 'domain/operation', 'domain/parties', 'domain/decide', 'domain/fold'],
  ...['domain/full-upsert', 'queries/compare'],
  ...['queries/reconcile/expected', 'queries/reconcile/find', 'queries/reconcile/repush'],
];

const REQUIRED = /\brequire\("([^"]+)"\)/g;
const EXPORTED = /^exports\.(\w+) =/gm;

/**
 * @param compiled the folder dist/src
 * @returns by file name what a browser can import
 * @throws Error where one is not there, or requires what is not shared
 */
export const readSharedModules = (compiled: string): ReadonlyMap<string, Buffer> =>
  new Map(
    SHARED.map((name) => {
      const text = readFileSync(path.join(compiled, `${name}.js`), 'utf8');
      return [`${path.basename(name)}.js`, Buffer.from(toBrowserModule(name, text))];
    }),
  );

/** @param text what tsc writes as CommonJS */
export function toBrowserModule(name: string, text: string): string {
  const required = [...new Set(Array.from(text.matchAll(REQUIRED), ([, it = '']) => it))];
  const known = new Set(SHARED.map((it) => path.basename(it)));
  const imports = required.map((specifier, at) => {
    const base = path.basename(specifier);
    if (!known.has(base)) throw new Error(`${name} requires ${specifier}, which is not shared`);
    return `import * as import_${at} from "./${base}.js";`;
  });
  const modules = required.map((specifier, at) => `${JSON.stringify(specifier)}: import_${at}`);
  const names = [...new Set(Array.from(text.matchAll(EXPORTED), ([, it = '']) => it))];
  return [
    ...imports,
    'const exports = {};',
    `const require = (name) => ({ ${modules.join(', ')} })[name];`,
    text,
    // Under other names: what is exported may be declared by its own.
    ...names.map((it) => `const export_${it} = exports.${it};`),
    `export { ${names.map((it) => `export_${it} as ${it}`).join(', ')} };\n`,
  ].join('\n');
}
