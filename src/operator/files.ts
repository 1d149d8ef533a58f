/** What the page of the operator's screen is made of: public/operator, and what it has of the console. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readConsoleFiles } from '../http/routes/console-files';
import { type DocsFiles, fileOf, TYPES } from '../http/routes/docs-files';

/** The folder of what is public, seen from dist/src/operator. */
const PUBLIC = path.join(__dirname, '../../../public');

/** Of the console: its libraries, its look, and what speaks its two languages. */
const OF_CONSOLE = [
  ...['lib/preact.js', 'lib/hooks.js', 'lib/signals.js', 'lib/signals-core.js'],
  ...['speech.js', 'route.js', 'languages.js', 'page.css', 'overview.css', 'icon.svg'],
].map((name) => `/console/${name}`);

/** @throws Error where a file cannot be read */
export function readOperatorFiles(): DocsFiles {
  const folder = path.join(PUBLIC, 'operator');
  const own = readdirSync(folder)
    .filter((name) => path.extname(name) in TYPES)
    .map((name): [string, DocsFileOf] => {
      const file = fileOf(name, readFileSync(path.join(folder, name)));
      return [name === 'index.html' ? '/' : `/operator/${name}`, file];
    });
  const console = readConsoleFiles(path.join(PUBLIC, 'console'));
  const shared = OF_CONSOLE.map((address): [string, DocsFileOf] => {
    const file = console.get(address);
    if (!file) throw new Error(`the console serves no ${address}`);
    return [address, file];
  });
  return new Map([...own, ...shared]);
}

type DocsFileOf = ReturnType<typeof fileOf>;
