/** Makes variants of the sent body: bodies that the caller may have signed by mistake. */
import { createHash } from 'node:crypto';
import type { Cause } from './causes';
import { javaMap, pythonBytes, pythonDict, writeJson } from './json-text';
import { type JsonNode, parseTree } from './json-tree';
import { WRITERS } from './json-writers';

export interface BodyVariant {
  readonly cause: Cause;
  /** Detail of the mistake. */
  readonly how?: string;
  readonly bytes: Uint8Array;
  readonly hasSameContent: boolean;
}

type Found = readonly [cause: Cause, how: string | undefined, signed: string | Uint8Array];

/** Maximum bytes of the sent body. A larger body gets only the empty variant. */
const MAX_BODY = 1024 * 1024;
const BOM = '\ufeff';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Makes the variants one by one, so that the caller can pause after each variant. One variant can block the event
 * loop for milliseconds.
 *
 * @yields undefined for a duplicate of the sent body or of an earlier variant
 */
export function* bodyVariants(body: Uint8Array | undefined): Generator<BodyVariant | undefined> {
  const seen = new Set(body && [digestOf(body)]);
  for (const [cause, how, signed] of variants(body)) {
    const bytes = typeof signed === 'string' ? Buffer.from(signed) : signed;
    const digest = digestOf(bytes);
    if (seen.has(digest)) {
      yield undefined;
      continue;
    }
    seen.add(digest);
    const hasSameContent = !OTHER_CONTENT.has(cause);
    yield { cause, bytes, hasSameContent, ...(how !== undefined && { how }) };
  }
}

const OTHER_CONTENT = new Set<Cause>([
  'BODY_EMPTY',
  'BODY_HASHED',
  'BODY_NOT_TEXT',
  'BODY_ENCODED',
]);
const digestOf = (bytes: Uint8Array) => hashOf('sha256', bytes, 'base64');
const hashOf = (name: string, bytes: Uint8Array, encoding: 'hex' | 'base64') =>
  createHash(name).update(bytes).digest(encoding);

function* variants(body: Uint8Array | undefined): Generator<Found> {
  yield ['BODY_EMPTY', undefined, ''];
  if (!body || body.length > MAX_BODY) return;
  const text = textOf(body);
  if (text !== undefined) yield* lineVariants(text);
  const json = text === undefined ? undefined : parseTree(withoutBom(text).trim());
  if (json) yield* jsonVariants(json);
  yield* hashes(body);
  if (text !== undefined) yield* encodings(text, body);
  yield ['BODY_NOT_TEXT', 'bytes in a Python f-string', pythonBytes(body)];
  if (json) yield* objectTexts(json);
}

function* lineVariants(text: string): Generator<Found> {
  const bare = withoutBom(text);
  if (bare !== text) yield ['BODY_WITHOUT_BOM', undefined, bare];
  yield ['BODY_LINE_FEED_ADDED', undefined, `${text}\n`];
  yield ['BODY_LINE_FEED_ADDED', 'CR LF', `${text}\r\n`];
  yield ['BODY_TRIMMED', undefined, text.trimEnd()];
  yield ['BODY_TRIMMED', undefined, text.trim()];
  yield ['BODY_CRLF', undefined, text.replace(/\r?\n/g, '\r\n')];
  yield ['BODY_LF', undefined, text.replace(/\r\n?/g, '\n')];
  yield ['BODY_LINES_JOINED', 'as curl -d does', text.replace(/[\r\n]/g, '')];
  yield ['BODY_BOM', undefined, BOM + text];
}

function* jsonVariants(json: JsonNode): Generator<Found> {
  // If the sent body is one JSON string, the caller may have signed the text in the string.
  if (json.kind === 'string') yield ['BODY_ENCODED', 'the text within the string', json.value];
  for (const { cause, how, style } of WRITERS) {
    const written = writeJson(json, style);
    yield [cause, how, written];
    yield [cause, `${how}, and a line feed`, `${written}\n`];
    if (style.layout.indent === undefined) continue;
    yield [cause, `${how}, with CRLF`, written.replaceAll('\n', '\r\n')];
  }
}

function* hashes(body: Uint8Array): Generator<Found> {
  for (const name of ['sha256', 'md5', 'sha1']) {
    const hex = hashOf(name, body, 'hex');
    yield ['BODY_HASHED', name, hex];
    yield ['BODY_HASHED', name, hex.toUpperCase()];
    yield ['BODY_HASHED', `${name}, base64`, hashOf(name, body, 'base64')];
  }
}

function* encodings(text: string, body: Uint8Array): Generator<Found> {
  yield ['BODY_CHARSET', 'GBK', toGbk(text)];
  yield ['BODY_CHARSET', 'ISO-8859-1', toLatin1(text)];
  yield ['BODY_CHARSET', 'UTF-16LE', Buffer.from(text, 'utf16le')];
  yield ['BODY_CHARSET', 'UTF-8 twice', Buffer.from(body).toString('latin1')];
  yield ['BODY_ENCODED', 'base64', Buffer.from(body).toString('base64')];
  yield ['BODY_ENCODED', 'as a JSON string', JSON.stringify(text)];
  const inUrl = encodeURIComponent(text);
  yield ['BODY_ENCODED', 'percent-encoded', inUrl];
  yield ['BODY_ENCODED', 'for a form', inUrl.replaceAll('%20', '+')];
}

function* objectTexts(json: JsonNode): Generator<Found> {
  yield ['BODY_NOT_TEXT', 'String(object) in JavaScript', '[object Object]'];
  yield ['BODY_NOT_TEXT', 'str(dict) in Python', pythonDict(json)];
  yield ['BODY_NOT_TEXT', 'toString() of a Map in Java', javaMap(json)];
  for (const word of ['Array', 'undefined', 'null', 'None']) {
    yield ['BODY_NOT_TEXT', `"${word}"`, word];
  }
}

const withoutBom = (text: string) => (text.startsWith(BOM) ? text.slice(1) : text);

function textOf(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/** Range of the first byte of a GBK character. */
const LEADS = [0x81, 0xfe] as const;
/** Range of the second byte of a GBK character. */
const TRAILS = [0x40, 0xfe] as const;
/** A question mark, for characters that the character set does not contain. */
const UNKNOWN = 0x3f;
const LINE_FEED = 0x0a;

/** Node.js has no GBK encoder, so `gbkTable` inverts the decoder. */
export function toGbk(text: string): Buffer {
  gbk ??= gbkTable();
  const table = gbk;
  return Buffer.from(
    [...text].flatMap((char) =>
      char <= '\x7f' ? [char.charCodeAt(0)] : (table.get(char) ?? [UNKNOWN]),
    ),
  );
}

export const toLatin1 = (text: string): Buffer =>
  Buffer.from([...text].map((char) => (char <= '\xff' ? char.charCodeAt(0) : UNKNOWN)));

let gbk: Map<string, readonly number[]> | undefined;

function gbkTable(): Map<string, readonly number[]> {
  const pairs: (readonly [number, number])[] = [];
  for (let lead: number = LEADS[0]; lead <= LEADS[1]; lead += 1) {
    for (let trail: number = TRAILS[0]; trail <= TRAILS[1]; trail += 1) pairs.push([lead, trail]);
  }
  // Decodes all pairs in one call, because 24,000 calls would be slow.
  const bytes = Uint8Array.from(pairs.flatMap((pair) => [...pair, LINE_FEED]));
  const chars = new TextDecoder('gbk').decode(bytes).split('\n');
  const table = new Map<string, readonly number[]>();
  for (const [at, pair] of pairs.entries()) {
    const char = chars[at] ?? '';
    if (char.length === 1 && char !== '\ufffd' && !table.has(char)) table.set(char, pair);
  }
  return table;
}
