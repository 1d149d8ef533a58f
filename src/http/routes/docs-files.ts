/**
 * What /docs serves: the files of public/docs, the signing examples, and the files of @noble/hashes that
 * sign in the browser.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { etagOf } from '../../protocol/etag';
import { DOCS_PATH } from '../../protocol/paths';
import type { PlainDocument } from '../request-state';

/** By the path of the request. */
export type DocsFiles = ReadonlyMap<string, PlainDocument>;

/** Other files of the folder are for those who work on it. */
export const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** What an HMAC-SHA256 needs; the files find each other by relative names. */
export const NOBLE = ['hmac.js', 'sha2.js', 'utils.js', '_md.js', '_u64.js'];

/** Of examples/signing, shown and offered as they are; none of them is run by a browser. */
const EXAMPLES = [
  ...['send.sh', 'send.mjs', 'send.py', 'Send.java', 'main.go', 'send.php'],
  ...['Program.cs', 'Send.csproj', 'vectors.json'],
];
const EXAMPLE_TYPE = 'text/plain; charset=utf-8';

/** Everything comes from here, and nothing of the page may be put into another one. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');
const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Asked anew each time, mostly for a 304: files of two versions do not fit together.
  'Cache-Control': 'no-cache',
};

/**
 * Reads all of them, once.
 *
 * @param root the folder of the project
 * @param demoFile a client with its secret, as tools/local/demo.ts writes it, to be filled in for whoever
 *   opens the page; none: there is no demo.json
 * @throws Error where a file cannot be read
 */
export function readDocsFiles(root: string, demoFile?: string): DocsFiles {
  const folder = path.join(root, 'public/docs');
  const files = readdirSync(folder)
    .filter((name) => path.extname(name) in TYPES)
    .map((name): [string, PlainDocument] => {
      const bytes = readFileSync(path.join(folder, name));
      if (name !== 'index.html') return [`${DOCS_PATH}/${name}`, fileOf(name, bytes)];
      return [DOCS_PATH, fileOf(name, demoFile ? withDemo(bytes) : bytes)];
    });
  const nobleFolder = path.dirname(require.resolve('@noble/hashes/hmac.js'));
  const noble = NOBLE.map((name): [string, PlainDocument] => {
    const bytes = readFileSync(path.join(nobleFolder, name));
    return [`${DOCS_PATH}/noble/${name}`, fileOf(name, bytes)];
  });
  const examples = EXAMPLES.map((name): [string, PlainDocument] => {
    const bytes = readFileSync(path.join(root, 'examples/signing', name));
    return [`${DOCS_PATH}/signing/${name}`, fileOf(name, bytes, EXAMPLE_TYPE)];
  });
  return new Map([...files, ...noble, ...examples, ...(demoFile ? [demoOf(demoFile)] : [])]);
}

export const fileOf = (
  name: string,
  bytes: Buffer,
  type = TYPES[path.extname(name)] ?? '',
): PlainDocument => ({
  bytes,
  type,
  etag: etagOf(bytes),
  headers: HEADERS,
});

/** The page asks for the demo only where there is one. */
const withDemo = (page: Buffer) => Buffer.from(String(page).replace('<html ', '<html data-demo '));

function demoOf(file: string): [string, PlainDocument] {
  const { clientId, secret } = JSON.parse(readFileSync(file, 'utf8'));
  const bytes = Buffer.from(JSON.stringify({ clientId, secret }));
  const type = 'application/json; charset=utf-8';
  const headers = { ...HEADERS, 'Cache-Control': 'no-store' };
  return [`${DOCS_PATH}/demo.json`, { bytes, type, etag: etagOf(bytes), headers }];
}
