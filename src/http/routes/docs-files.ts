/**
 * What /docs serves: the files of public/docs, the signing examples, and the files of @noble/hashes that
 * sign in the browser.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isAcceptedHost } from '../../protocol/accepted-host';
import { DOCS_PATH } from '../../protocol/paths';
import { fileOf, HEADERS, type PageFiles, plainFileOf, TYPES, withPreloads } from '../page-files';
import type { PlainDocument } from '../request-state';

/** What an HMAC-SHA256 needs; the files find each other by relative names. */
const NOBLE = ['hmac.js', 'sha2.js', 'utils.js', '_md.js', '_u64.js'];

const PAGE = 'index.html';

/** Of examples/signing, shown and offered as they are; none of them is run by a browser. */
const EXAMPLES = [
  ...['send.sh', 'send.mjs', 'send.py', 'Send.java', 'main.go', 'send.php'],
  ...['Program.cs', 'Send.csproj', 'vectors.json'],
];
const EXAMPLE_TYPE = 'text/plain; charset=utf-8';

/** A client with its secret that the page fills in for everyone who opens it. */
interface Demo {
  /** As tools/local/prepare-data.ts writes it. */
  readonly file: string;
  /** Host names of this service; under another name the secret is not served. */
  readonly ownNames: readonly string[];
}

/**
 * Reads all of them, once.
 *
 * @param root the folder of the project
 * @param demo absent: there is no demo.json
 * @throws Error where a file cannot be read
 */
export function readDocsFiles(root: string, demo?: Demo): PageFiles {
  const folder = path.join(root, 'public/docs');
  const own = readdirSync(folder)
    .filter((name) => path.extname(name) in TYPES && name !== PAGE)
    .map((name): [string, PlainDocument] => [
      `${DOCS_PATH}/${name}`,
      fileOf(name, readFileSync(path.join(folder, name))),
    ]);
  const noble = readNoble(`${DOCS_PATH}/noble`);
  const examples = EXAMPLES.map((name): [string, PlainDocument] => {
    const bytes = readFileSync(path.join(root, 'examples/signing', name));
    return [`${DOCS_PATH}/signing/${name}`, plainFileOf(bytes, EXAMPLE_TYPE)];
  });
  const modules = new Map([...own, ...noble]);
  const html = withPreloads(DOCS_PATH, readFileSync(path.join(folder, PAGE)), modules);
  const page = fileOf(PAGE, demo ? withDemo(html) : html);
  const demoFiles = demo ? [demoOf(demo)] : [];
  return new Map([[DOCS_PATH, page], ...modules, ...examples, ...demoFiles]);
}

/** @param below where they are served */
export function readNoble(below: string): [string, PlainDocument][] {
  const folder = path.dirname(require.resolve('@noble/hashes/hmac.js'));
  return NOBLE.map((name) => [
    `${below}/${name}`,
    fileOf(name, readFileSync(path.join(folder, name))),
  ]);
}

/** The page asks for the demo only where there is one. */
const withDemo = (page: Buffer) => Buffer.from(String(page).replace('<html ', '<html data-demo '));

function demoOf({ file, ownNames }: Demo): [string, PlainDocument] {
  const { clientId, secret } = JSON.parse(readFileSync(file, 'utf8'));
  const bytes = Buffer.from(JSON.stringify({ clientId, secret }));
  const type = 'application/json; charset=utf-8';
  const headers = { ...HEADERS, 'Cache-Control': 'no-store' };
  const isServedFor = (host: string | undefined) => isAcceptedHost(host, ...ownNames);
  return [`${DOCS_PATH}/demo.json`, { ...plainFileOf(bytes, type), headers, isServedFor }];
}
