/** What the page of the operator's screen is made of: public/operator, and what it has of the console. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileOf, type PageFiles, TYPES, withPreloads } from '../http/page-files';
import type { PlainDocument } from '../http/request-state';
import { readConsoleFiles } from '../http/routes/console-files';

/** The folder of what is public, seen from dist/src/operator. */
const PUBLIC = path.join(__dirname, '../../../public');

/** Of the console: its libraries, its look, and what speaks its two languages. */
const OF_CONSOLE = [
  ...['lib/preact.js', 'lib/hooks.js', 'lib/signals.js', 'lib/signals-core.js'],
  ...['speech.js', 'route.js', 'languages.js', 'guard.js', 'page.css', 'overview.css', 'icon.svg'],
].map((name) => `/console/${name}`);

const PAGE = 'index.html';

/** @throws Error where a file cannot be read */
export function readOperatorFiles(): PageFiles {
  const folder = path.join(PUBLIC, 'operator');
  const own = readdirSync(folder)
    .filter((name) => path.extname(name) in TYPES && name !== PAGE)
    .map((name): [string, PlainDocument] => [
      `/operator/${name}`,
      fileOf(name, readFileSync(path.join(folder, name))),
    ]);
  const console = readConsoleFiles(path.join(PUBLIC, 'console'));
  const shared = OF_CONSOLE.map((address): [string, PlainDocument] => {
    const file = console.get(address);
    if (!file) throw new Error(`the console serves no ${address}`);
    return [address, file];
  });
  const modules = new Map([...own, ...shared]);
  const html = withPreloads('/', readFileSync(path.join(folder, PAGE)), modules);
  return new Map([['/', fileOf(PAGE, html)], ...modules]);
}
