/** What /console serves: its page and modules, the modules of packages that it runs on, and pure ones of the service. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CONSOLE_PATH } from '../../protocol/paths';
import { fileOf, type PageFiles, plainFileOf, TYPES, withPreloads } from '../page-files';
import type { PlainDocument } from '../request-state';
import { readNoble } from './docs-files';

/** Where a package's module lies, and what the console calls it. */
interface Library {
  readonly name: string;
  /** As other modules import it. */
  readonly specifier: string;
  readonly file: string;
}

const beside = (specifier: string, file: string, from = __dirname) =>
  path.join(path.dirname(require.resolve(specifier, { paths: [from] })), file);

function libraries(): readonly Library[] {
  const signals = beside('@preact/signals', 'signals.module.js');
  const core = beside('@preact/signals-core', 'signals-core.module.js', path.dirname(signals));
  return [
    { name: 'preact.js', specifier: 'preact', file: beside('preact', 'preact.module.js') },
    {
      name: 'hooks.js',
      specifier: 'preact/hooks',
      file: beside('preact/hooks', 'hooks.module.js'),
    },
    { name: 'signals.js', specifier: '@preact/signals', file: signals },
    { name: 'signals-core.js', specifier: '@preact/signals-core', file: core },
  ];
}

const PAGE = 'index.html';
/** Modules that the build compiles for the browser, seen from public/console. */
const COMPILED = '../../dist/browser/console';

/** A browser finds modules by their addresses: the bare names in the libraries become relative ones. */
const BARE = /\b(from|import)\s*"([^"./][^"]*)"/g;

/**
 * Reads all of them, once.
 *
 * @param folder public/console
 * @throws Error where a file cannot be read, or a library imports what is not served
 */
export function readConsoleFiles(folder: string): PageFiles {
  const own = readdirSync(folder)
    .filter((name) => path.extname(name) in TYPES && name !== PAGE && !isModule(name))
    .map((name): [string, PlainDocument] => [
      `${CONSOLE_PATH}/${name}`,
      fileOf(name, readFileSync(path.join(folder, name))),
    ]);
  const noble = readNoble(`${CONSOLE_PATH}/lib`);
  const all = libraries();
  const others = all.map(({ name, file }) => served(name, withAddresses(file, all)));
  const compiled = path.join(folder, COMPILED);
  const built = [
    ...compiledIn(compiled, CONSOLE_PATH),
    ...compiledIn(path.join(compiled, 'lib'), `${CONSOLE_PATH}/lib`),
  ];
  const modules = new Map([...own, ...noble, ...others, ...built]);
  const html = withPreloads(CONSOLE_PATH, readFileSync(path.join(folder, PAGE)), modules);
  return new Map([[CONSOLE_PATH, fileOf(PAGE, html)], ...modules]);
}

const isModule = (name: string) => path.extname(name) === '.js';

/** They are small already: comments would be found where there are none. */
const compiledIn = (folder: string, address: string): [string, PlainDocument][] =>
  readdirSync(folder)
    .filter(isModule)
    .map((name) => [
      `${address}/${name}`,
      plainFileOf(readFileSync(path.join(folder, name)), String(TYPES['.js'])),
    ]);

const served = (name: string, bytes: Buffer): [string, PlainDocument] => [
  `${CONSOLE_PATH}/lib/${name}`,
  fileOf(name, bytes),
];

function withAddresses(file: string, all: readonly Library[]): Buffer {
  const text = readFileSync(file, 'utf8').replace(BARE, (_, word: string, specifier: string) => {
    const library = all.find((it) => it.specifier === specifier);
    if (!library) throw new Error(`${file} imports ${specifier}, which the console does not serve`);
    return `${word}"./${library.name}"`;
  });
  return Buffer.from(text);
}
