/** Documents that are sent without an envelope: the OpenAPI document and the files of the pages. */
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { etagOf } from '../protocol/headers';

export interface PlainDocument {
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
  /** Additional headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a request with this Host header gets the document. If absent, every request gets the document. */
  readonly isServedFor?: (host: string | undefined) => boolean;
}

/** Documents of fewer bytes are not compressed. */
const MIN_GZIPPED = 1_024;

interface DocumentAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

interface Encoded {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly encoding?: 'gzip';
}

const gzipped = new WeakMap<PlainDocument, Encoded>();

export function answerDocument(
  document: PlainDocument,
  request: IncomingHttpHeaders,
): DocumentAnswer {
  const { bytes, etag, encoding } = encodedFor(document, request['accept-encoding'] ?? '');
  const headers = { 'Content-Type': document.type, ETag: etag, Vary: 'Accept-Encoding' };
  const all = { ...headers, ...document.headers };
  if (isCurrent(etag, request)) return { status: 304, headers: all };
  const length = { 'Content-Length': String(bytes.length) };
  const encoded = encoding && { 'Content-Encoding': encoding };
  return { status: 200, headers: { ...all, ...length, ...encoded }, body: bytes };
}

function encodedFor(document: PlainDocument, accepted: string): Encoded {
  if (document.bytes.length < MIN_GZIPPED || !acceptsGzip(accepted)) return document;
  const known = gzipped.get(document);
  if (known) return known;
  const bytes = gzipSync(document.bytes, { level: 9 });
  // Each encoding needs a different ETag.
  const compressed: Encoded = {
    bytes,
    etag: document.etag.replace(/"$/, '-gzip"'),
    encoding: 'gzip',
  };
  gzipped.set(document, compressed);
  return compressed;
}

/** Evaluates Accept-Encoding (RFC 9110, section 12.5.3). */
export function acceptsGzip(accepted: string): boolean {
  const weights = new Map(
    accepted.split(',').map((part): [string, number] => {
      const [coding = '', ...parameters] = part.toLowerCase().split(';');
      const weight = parameters.map((it) => /^\s*q=(.*)$/.exec(it)?.[1]).find((it) => it);
      return [coding.trim(), weight === undefined ? 1 : Number(weight)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

/** Evaluates If-None-Match (RFC 9110, section 13.1.2). */
function isCurrent(etag: string, request: IncomingHttpHeaders): boolean {
  const { 'if-none-match': known = '', 'cache-control': control = '' } = request;
  if (/\bno-cache\b/.test(control)) return false;
  return known.split(',').some((it) => ['*', etag].includes(it.trim().replace(/^W\//, '')));
}

/** The files of pages, by request path. */
export type PageFiles = ReadonlyMap<string, PlainDocument>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

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
export const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};
/** Matches file names with a hash of the content. */
const HASHED = /-[0-9A-Z]{8}\.\w+$/;
const FOREVER = { ...PAGE_HEADERS, 'Cache-Control': 'public, max-age=31536000, immutable' };

export const toPlainDocument = (
  bytes: Buffer,
  type: string,
  headers = PAGE_HEADERS,
): PlainDocument => ({
  bytes,
  type,
  etag: etagOf(bytes),
  headers,
});

/**
 * @param address the request path of `index.html`
 * @throws Error if a file cannot be read
 */
export function readPage(folder: string, address: string): PageFiles {
  const files = readdirSync(folder).map((name): [string, PlainDocument] => {
    const type = TYPES[path.extname(name)] ?? '';
    const headers = HASHED.test(name) ? FOREVER : PAGE_HEADERS;
    const file = toPlainDocument(readFileSync(path.join(folder, name)), type, headers);
    return [name === 'index.html' ? address : `/${path.basename(folder)}/${name}`, file];
  });
  return new Map(files);
}
