/** What the pages are made of: how a file of theirs is served, and which modules a page loads. */
import path from 'node:path';
import { etagOf } from '../protocol/etag';
import type { PlainDocument } from './request-state';

/** By the path of the request. */
export type PageFiles = ReadonlyMap<string, PlainDocument>;

/** Other files of the folders are for those who work on them. */
export const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

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
export const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Asked anew each time, mostly for a 304: files of two versions do not fit together.
  'Cache-Control': 'no-cache',
};

/** Comments that stand on lines of their own; the lines stay, so that a stack names the right ones. */
const COMMENT = /^[ \t]*(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/[ \t]*$|\/\/.*$)/gm;

export const blankComments = (text: string): string =>
  text.replace(COMMENT, (comment) => comment.replace(/[^\n]+/g, ''));

/** @param name its ending tells the type; a module goes without its comments, which are a third of it */
export function fileOf(name: string, bytes: Buffer): PlainDocument {
  const isModule = path.extname(name) === '.js';
  const served = isModule ? Buffer.from(blankComments(String(bytes))) : bytes;
  return plainFileOf(served, TYPES[path.extname(name)] ?? '');
}

export const plainFileOf = (bytes: Buffer, type: string): PlainDocument => ({
  bytes,
  type,
  etag: etagOf(bytes),
  headers: HEADERS,
});

const SCRIPT = /^( *)<script type="module" src="([^"]+)"><\/script>$/m;
/** Also in a minified module, where it begins no line and `"from","to"` may stand. All are relative here. */
const IMPORTED = /\b(?:from|import)\s*["'](\.[^"'\s]+)["']/g;

/**
 * Names in the page all modules that it is going to load: a browser fetches them at once, and not level by
 * level as each one tells what it imports.
 *
 * @param address of the page @param files its modules are among them
 * @throws Error where a module imports what is not served
 */
export function withPreloads(address: string, html: Buffer, files: PageFiles): Buffer {
  const links = (tag: string, indent: string, script: string) => {
    const modules = modulesFrom(resolve(script, address), files);
    const all = modules.map((it) => `${indent}<link rel="modulepreload" href="${it.slice(1)}" />`);
    return [...all, tag].join('\n');
  };
  return Buffer.from(String(html).replace(SCRIPT, links));
}

const resolve = (name: string, from: string) => new URL(name, `http://page${from}`).pathname;

/** Nearest first, as a browser would find them. */
function modulesFrom(entry: string, files: PageFiles): readonly string[] {
  const found = new Set([entry]);
  // A set that grows while it is gone through.
  for (const address of found) {
    const file = files.get(address);
    if (!file) throw new Error(`${entry} imports ${address}, which is not served`);
    for (const [, name = ''] of String(file.bytes).matchAll(IMPORTED)) {
      found.add(resolve(name, address));
    }
  }
  return [...found];
}
