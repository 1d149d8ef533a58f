/** The pages /docs and /console. Their files are read at startup and served without a signature. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Middleware } from 'koa';
import { PushError } from '../protocol/errors';
import { isAcceptedHost } from '../protocol/headers';
import { CONSOLE_PATH, DOCS_PATH } from '../protocol/paths';
import {
  PAGE_HEADERS,
  type PageFiles,
  type PlainDocument,
  readPage,
  toPlainDocument,
} from './documents';
import type { RequestState } from './request';

const METHODS = ['HEAD', 'GET'];

/**
 * Redirects to a page, by request path. The targets are relative, because a proxy may remove a prefix from the path. A
 * page needs its exact path, because the page loads its files by relative names.
 */
const REDIRECTS: ReadonlyMap<string, { readonly page: string; readonly location: string }> =
  new Map([
    ['/', { page: DOCS_PATH, location: DOCS_PATH.slice(1) }],
    [`${DOCS_PATH}/`, { page: DOCS_PATH, location: `..${DOCS_PATH}` }],
    [`${CONSOLE_PATH}/`, { page: CONSOLE_PATH, location: `..${CONSOLE_PATH}` }],
  ]);

/** Serves the files by their exact path: no part of a request is used as a file path. */
export function koaPages(files: PageFiles): Middleware<RequestState> {
  return async (ctx, next) => {
    const found = files.get(ctx.path);
    const file = found?.isServedFor?.(ctx.headers.host) === false ? undefined : found;
    const redirect = REDIRECTS.get(ctx.path);
    const location = redirect && files.has(redirect.page) ? redirect.location : undefined;
    if (!file && location === undefined) return next();
    if (!METHODS.includes(ctx.method)) {
      ctx.set('Allow', METHODS.join(', '));
      throw new PushError('METHOD_NOT_ALLOWED');
    }
    if (file) ctx.state.document = file;
    else ctx.state.location = location;
  };
}

/** Files of examples/signing, which /docs shows and offers for download. */
const EXAMPLES = [
  ...['send.sh', 'send.mjs', 'send.py', 'Send.java', 'main.go', 'send.php'],
  ...['Program.cs', 'Send.csproj', 'vectors.json'],
];

/** A demo client (DOCS_DEMO). /docs fills the id and the secret of this client into its form. */
interface Demo {
  /** Path of the file with the credentials of this client. tools/local/prepare-data.ts writes this file. */
  readonly file: string;
  /** Host names of this service. The secret is served only under these names, localhost and IP addresses. */
  readonly ownNames: readonly string[];
}

/** The folder of the bundled pages, relative to the folder of the project. */
const BUNDLED = 'dist/browser';

/**
 * Reads the files of /docs: the page, and the signing examples.
 *
 * @param root the folder of the project
 * @param demo the demo client; if absent, /docs has no demo.json
 * @throws Error if a file cannot be read
 */
export function readDocsFiles(root: string, demo?: Demo): PageFiles {
  const files = readPage(path.join(root, BUNDLED, 'docs'), DOCS_PATH);
  const examples = EXAMPLES.map((name): [string, PlainDocument] => {
    const bytes = readFileSync(path.join(root, 'examples/signing', name));
    return [`${DOCS_PATH}/signing/${name}`, toPlainDocument(bytes, 'text/plain; charset=utf-8')];
  });
  const page = demo ? files.get(DOCS_PATH) : undefined;
  return new Map([...files, ...examples, ...(demo && page ? demoFiles(page, demo) : [])]);
}

/**
 * Reads the files of /console.
 *
 * @param root the folder of the project
 * @throws Error if a file cannot be read
 */
export const readConsoleFiles = (root: string): PageFiles =>
  readPage(path.join(root, BUNDLED, 'console'), CONSOLE_PATH);

/**
 * Makes demo.json, and the page with the attribute `data-demo`. The script of the page requests demo.json only if the
 * page has this attribute.
 */
function demoFiles(page: PlainDocument, { file, ownNames }: Demo): [string, PlainDocument][] {
  const html = Buffer.from(String(page.bytes).replace('<html ', '<html data-demo '));
  const { clientId, secret } = JSON.parse(readFileSync(file, 'utf8'));
  const bytes = Buffer.from(JSON.stringify({ clientId, secret }));
  const data = toPlainDocument(bytes, 'application/json; charset=utf-8');
  const headers = { ...PAGE_HEADERS, 'Cache-Control': 'no-store' };
  const isServedFor = (host: string | undefined) => isAcceptedHost(host, ...ownNames);
  return [
    [DOCS_PATH, toPlainDocument(html, page.type)],
    [`${DOCS_PATH}/demo.json`, { ...data, headers, isServedFor }],
  ];
}
