/** How a document is answered, on either port: gzipped for who takes that, and not again to who has it. */
import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { PlainDocument } from './request-state';

/** Bytes: less is one packet, compressed or not. */
const SMALLEST = 1_024;

export interface DocumentAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** None where the caller has it. */
  readonly body?: Buffer;
}

interface Encoded {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly encoding?: 'gzip';
}

/** Kept as long as the document: each is compressed once, when somebody asks for it first. */
const gzipped = new WeakMap<PlainDocument, Encoded>();

export function answerDocument(
  document: PlainDocument,
  asked: IncomingHttpHeaders,
): DocumentAnswer {
  const { bytes, etag, encoding } = encodedFor(document, asked['accept-encoding'] ?? '');
  const headers = { 'Content-Type': document.type, ETag: etag, Vary: 'Accept-Encoding' };
  const all = { ...headers, ...document.headers };
  if (isKnown(etag, asked)) return { status: 304, headers: all };
  const length = { 'Content-Length': String(bytes.length) };
  const encoded = encoding && { 'Content-Encoding': encoding };
  return { status: 200, headers: { ...all, ...length, ...encoded }, body: bytes };
}

function encodedFor(document: PlainDocument, accepted: string): Encoded {
  if (document.bytes.length < SMALLEST || !takesGzip(accepted)) return document;
  const known = gzipped.get(document);
  if (known) return known;
  const bytes = gzipSync(document.bytes, { level: 9 });
  // A strong ETag names bytes: those of another encoding are others.
  const made: Encoded = {
    bytes,
    etag: document.etag.replace(/"$/, '-gzip"'),
    encoding: 'gzip',
  };
  gzipped.set(document, made);
  return made;
}

/** @param accepted `Accept-Encoding`, RFC 9110 section 12.5.3 */
export function takesGzip(accepted: string): boolean {
  const weights = new Map(
    accepted.split(',').map((part): [string, number] => {
      const [coding = '', ...parameters] = part.toLowerCase().split(';');
      const weight = parameters.map((it) => /^\s*q=(.*)$/.exec(it)?.[1]).find((it) => it);
      return [coding.trim(), weight === undefined ? 1 : Number(weight)];
    }),
  );
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

/** RFC 9110 section 13.1.2; a reload that wants all anew says `no-cache`. */
function isKnown(etag: string, asked: IncomingHttpHeaders): boolean {
  const { 'if-none-match': known = '', 'cache-control': wish = '' } = asked;
  if (/\bno-cache\b/.test(wish)) return false;
  return known.split(',').some((it) => ['*', etag].includes(it.trim().replace(/^W\//, '')));
}
