/** The declarations of the client's package: without zod, on which the types of the service's answers are based. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runQuietly, SetupError } from './progress.mjs';

const SOURCES = [
  'tsconfig.json',
  'tsconfig.client.json',
  'src/domain',
  'src/protocol',
  'tools/client',
];
const ENTRY = 'tools/client/matter-push-client.d.ts';
const ANSWERS = 'tools/client/answers.d.ts';
const WRITTEN_OUT = 'tools/client/written-out';
/** The types that a module exports from other modules. */
const EXPORTED = /^export type \{([^}]+)\}/gm;
const IMPORTED = /(?:from |import\()['"]([^'"]+)['"]/g;

/**
 * Writes the declarations that a package needs for the client, as a tree like that of the sources.
 * @throws {SetupError} if a declaration needs a package, or if a type is lost
 */
export async function writeClientTypes(root, outdir) {
  const folder = mkdtempSync(join(tmpdir(), 'matter-push-types-'));
  try {
    for (const name of SOURCES) cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const names = exportedTypes(readFileSync(join(folder, 'tools/client/answers.ts'), 'utf8'));
    writeFileSync(join(folder, `${WRITTEN_OUT}.ts`), valuesOf(names));
    await emit(folder);
    const out = (name) => join(folder, 'out', name);
    const answers = typesOf(readFileSync(out(`${WRITTEN_OUT}.d.ts`), 'utf8'));
    writeFileSync(out(ANSWERS), answers);
    for (const name of reachableFrom(ENTRY, (name) => readFileSync(out(name), 'utf8'))) {
      mkdirSync(dirname(join(outdir, name)), { recursive: true });
      cpSync(out(name), join(outdir, name));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const exportedTypes = (source) =>
  [...source.matchAll(EXPORTED)].flatMap(([, list]) =>
    list
      .split(',')
      .map((name) => name.trim().split(' as ').at(-1))
      .filter((name) => name !== ''),
  );

/** The compiler writes the computed type of a value in full. For a type with a name it writes only the name. */
const valuesOf = (names) =>
  [
    "import type * as answers from './answers';",
    'declare function writtenOut<T>(): [T] extends [string]',
    '  ? keyof { [Literal in T & string]: 0 }',
    '  : { [Name in keyof T]: T[Name] };',
    ...names.map((name) => `export const ${name} = writtenOut<answers.${name}>();`),
  ].join('\n');

function typesOf(declarations) {
  const types = declarations
    .replace(/^import .*\n/, '')
    .replaceAll(/^export declare const (\w+): /gm, 'export type $1 = ');
  const lost = /^.*\b(?:any|answers)\b.*$/m.exec(types);
  if (lost) throw new SetupError(`The type of an answer is lost: ${lost[0].trim()}`);
  return types;
}

async function emit(folder) {
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  const args = ['-p', 'tsconfig.client.json', '--outDir', 'out'];
  const { ok, output } = await runQuietly(process.execPath, [tsc, ...args], { cwd: folder });
  if (!ok) throw new SetupError(`The types of the client cannot be written: ${output}`);
}

/** @returns the entry and all declarations that it needs */
function reachableFrom(entry, read) {
  const found = new Set([entry]);
  // The loop also visits the files that it adds to the set.
  for (const name of found) {
    for (const [, module] of read(name).matchAll(IMPORTED)) {
      if (module.startsWith('.')) found.add(`${join(dirname(name), module)}.d.ts`);
      else if (!module.startsWith('node:')) {
        throw new SetupError(`The types of the client need ${module}, in ${name}`);
      }
    }
  }
  return found;
}
