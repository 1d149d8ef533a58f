/** The pages /docs and /console, which are served without a signature. */
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

/** The targets of the redirects are relative, because a proxy can add a path prefix. */
const REDIRECTS: ReadonlyMap<string, { readonly page: string; readonly location: string }> =
  new Map([
    ['/', { page: DOCS_PATH, location: DOCS_PATH.slice(1) }],
    [`${DOCS_PATH}/`, { page: DOCS_PATH, location: `..${DOCS_PATH}` }],
    [`${CONSOLE_PATH}/`, { page: CONSOLE_PATH, location: `..${CONSOLE_PATH}` }],
  ]);

/** No part of a request is used as a file path. */
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

const EXAMPLES = [
  ...['send.sh', 'send.mjs', 'send.py', 'Send.java', 'main.go', 'send.php'],
  ...['Program.cs', 'Send.csproj', 'vectors.json'],
];

/** The demo client (DOCS_DEMO). The page /docs fills a form with the credentials of this client. */
interface Demo {
  /** Path of the file with the credentials. */
  readonly file: string;
  /** Accepted host names, in addition to localhost and IP addresses. */
  readonly ownNames: readonly string[];
}

/** Folder of the built pages, relative to the root folder of the project. */
const BUNDLED = 'dist/browser';

/** @throws Error if a file cannot be read */
export function readDocsFiles(root: string, demo?: Demo): PageFiles {
  const files = readPage(path.join(root, BUNDLED, 'docs'), DOCS_PATH);
  const examples = EXAMPLES.map((name): [string, PlainDocument] => {
    const bytes = readFileSync(path.join(root, 'examples/signing', name));
    return [`${DOCS_PATH}/signing/${name}`, toPlainDocument(bytes, 'text/plain; charset=utf-8')];
  });
  const page = demo ? files.get(DOCS_PATH) : undefined;
  return new Map([...files, ...examples, ...(demo && page ? demoFiles(page, demo) : [])]);
}

/** @throws Error if a file cannot be read */
export const readConsoleFiles = (root: string): PageFiles =>
  readPage(path.join(root, BUNDLED, 'console'), CONSOLE_PATH);

/** The attribute `data-demo` makes the page request demo.json. */
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
