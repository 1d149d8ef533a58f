/** What /console serves: the files of public/console, the modules of packages that it runs on, and pure ones of ours. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CONSOLE_PATH } from '../../protocol/paths';
import type { PlainDocument } from '../request-state';
import { type DocsFiles, fileOf, NOBLE, TYPES } from './docs-files';
import { blankComments, readSharedModules } from './shared-modules';

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

/** Where the compiled service lies, seen from public/console. */
const COMPILED = '../../dist/src';

/** A browser finds modules by their addresses: the bare names in the libraries become relative ones. */
const BARE = /\b(from|import)\s*"([^"./][^"]*)"/g;

/**
 * Reads all of them, once.
 *
 * @param folder public/console
 * @throws Error where a file cannot be read, or a library imports what is not served
 */
export function readConsoleFiles(folder: string): DocsFiles {
  const own = readdirSync(folder)
    .filter((name) => path.extname(name) in TYPES)
    .map((name): [string, PlainDocument] => {
      const file = fileOf(name, withoutComments(name, readFileSync(path.join(folder, name))));
      return [name === 'index.html' ? CONSOLE_PATH : `${CONSOLE_PATH}/${name}`, file];
    });
  const nobleFolder = path.dirname(require.resolve('@noble/hashes/hmac.js'));
  const noble = NOBLE.map((name) => served(name, readFileSync(path.join(nobleFolder, name))));
  const all = libraries();
  const others = all.map(({ name, file }) => served(name, withAddresses(file, all)));
  const shared = Array.from(readSharedModules(path.join(folder, COMPILED)), ([name, bytes]) =>
    served(name, bytes),
  );
  return new Map([...own, ...noble, ...others, ...shared]);
}

/** Types and reasons are a third of a module, and for those who work on it. */
const withoutComments = (name: string, bytes: Buffer) =>
  path.extname(name) === '.js' ? Buffer.from(blankComments(String(bytes))) : bytes;

const served = (name: string, bytes: Buffer): [string, PlainDocument] => [
  `${CONSOLE_PATH}/lib/${name}`,
  fileOf(name, bytes),
];

function withAddresses(file: string, all: readonly Library[]): Buffer {
  const text = readFileSync(file, 'utf8')
    .replace(BARE, (_, word: string, specifier: string) => {
      const library = all.find((it) => it.specifier === specifier);
      if (!library)
        throw new Error(`${file} imports ${specifier}, which the console does not serve`);
      return `${word}"./${library.name}"`;
    })
    .replace(/\n?\/\/# sourceMappingURL=.*\s*$/, '\n');
  return Buffer.from(text);
}
