/** Serializes JSON in the styles of several libraries and programming languages. */
import type { JsonMember, JsonNode } from './json-tree';

export interface Style {
  readonly layout: Layout;
  readonly quote: Quote;
  readonly order?: Order;
  readonly numbers?: (text: string) => string;
  readonly dropNulls?: boolean;
  /** Writes an empty object as `[]`, like PHP. */
  readonly emptyIsList?: boolean;
}

export interface Layout {
  readonly colon: string;
  readonly comma: string;
  /** Indentation of one level; undefined: the whole JSON is on one line. */
  readonly indent?: string;
  /** Formats lists and empty objects like Jackson. */
  readonly inlineLists?: boolean;
}

export const COMPACT: Layout = { colon: ':', comma: ',' };
export const SPACED: Layout = { colon: ': ', comma: ', ' };
export const pretty = (indent: string): Layout => ({ colon: ': ', comma: ',', indent });
export const JACKSON: Layout = { colon: ' : ', comma: ',', indent: '  ', inlineLists: true };

/** Writes a text as a JSON string, with the escapes of one library. */
export type Quote = (text: string) => string;
export type Order = (members: readonly JsonMember[], depth: number) => readonly JsonMember[];

export function writeJson(root: JsonNode, style: Style): string {
  const { layout, quote, order = (members) => members, numbers = (text) => text } = style;
  const { colon, comma, indent, inlineLists = false } = layout;
  const block = (open: string, items: readonly string[], close: string, depth: number) => {
    if (items.length === 0) return open + (inlineLists ? ' ' : '') + close;
    if (indent === undefined) return open + items.join(comma) + close;
    const inner = `\n${indent.repeat(depth + 1)}`;
    return `${open}${inner}${items.join(`,${inner}`)}\n${indent.repeat(depth)}${close}`;
  };
  const write = (json: JsonNode, depth: number): string => {
    switch (json.kind) {
      case 'object': {
        const kept = json.members.filter(([, value]) => !(style.dropNulls && isNull(value)));
        if (kept.length === 0 && style.emptyIsList) return '[]';
        const texts = order(kept, depth).map(
          ([name, value]) => quote(name) + colon + write(value, depth + 1),
        );
        return block('{', texts, '}', depth);
      }
      case 'array': {
        const texts = json.items.map((item) => write(item, inlineLists ? depth : depth + 1));
        if (inlineLists && texts.length > 0) return `[ ${texts.join(', ')} ]`;
        return block('[', texts, ']', depth);
      }
      case 'string':
        return quote(json.value);
      case 'number':
        return numbers(json.text);
      case 'word':
        return json.text;
      default:
        return json satisfies never;
    }
  };
  return write(root, 0);
}

const isNull = (json: JsonNode) => json.kind === 'word' && json.text === 'null';

const quoteWith =
  (pattern: RegExp, write: (char: string) => string): Quote =>
  (text) =>
    JSON.stringify(text).replace(pattern, write);
const unicode = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const upperUnicode = (char: string) => `\\u${unicode(char).slice(2).toUpperCase()}`;

export const plain: Quote = (text) => JSON.stringify(text);
/** Escapes DEL and all characters that are not ASCII, as Python does. */
export const pythonAscii = quoteWith(/[\u007f-\uffff]/g, unicode);
export const ascii = quoteWith(/[\u0080-\uffff]/g, unicode);
export const slashed = quoteWith(/\/|[\u2028\u2029]/g, (char) =>
  char === '/' ? '\\/' : unicode(char),
);
export const slashedAscii = quoteWith(/\/|[\u0080-\uffff]/g, (char) =>
  char === '/' ? '\\/' : unicode(char),
);
export const html = quoteWith(/[<>&\u2028\u2029]/g, unicode);
/** Writes the escapes that Go wrote up to version 1.21. */
export const htmlOld: Quote = (text) =>
  html(text).replace(/\\\\|\\[bf]/g, (found) =>
    found === '\\b' ? '\\u0008' : found === '\\f' ? '\\u000c' : found,
  );
export const gson = quoteWith(/[<>&='\u2028\u2029]/g, unicode);
export const dotnet: Quote = (text) =>
  `"${JSON.stringify(text)
    .slice(1, -1)
    .replace(/\\"/g, '\\u0022')
    .replace(/[<>&'+`\u007f-\uffff]/g, upperUnicode)}"`;

export const sorted: Order = (members) =>
  members
    .map((member) => [Buffer.from(member[0]), member] as const)
    .sort(([a], [b]) => Buffer.compare(a, b))
    .map(([, member]) => member);
export const sortedAtTop: Order = (members, depth) => (depth === 0 ? sorted(members, 0) : members);
export const byHash: Order = hashOrder;
/** Orders members like JavaScript: names that are whole numbers come first, in ascending order. */
export const numbersFirst: Order = (members) => {
  const isIndex = ([name]: JsonMember) => /^(?:0|[1-9]\d{0,9})$/.test(name);
  const first = members.filter(isIndex).sort(([a], [b]) => Number(a) - Number(b));
  return [...first, ...members.filter((member) => !isIndex(member))];
};

/** Number of buckets of a new Java HashMap. */
const SMALLEST = 16;
/** Maximum ratio of entries to buckets in a Java HashMap. */
const LOAD = 0.75;

/** Orders members like a Java HashMap. */
export function hashOrder(members: readonly JsonMember[]): readonly JsonMember[] {
  let buckets = SMALLEST;
  while (members.length > buckets * LOAD) buckets *= 2;
  const bucketOf = ([name]: JsonMember) => (spread(name) & (buckets - 1)) >>> 0;
  // The sort is stable: entries of one bucket keep the order of insertion.
  return [...members].sort((a, b) => bucketOf(a) - bucketOf(b));
}

/** The hash that a Java HashMap uses for a string. */
function spread(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at += 1) {
    hash = (Math.imul(31, hash) + name.charCodeAt(at)) | 0;
  }
  return hash ^ (hash >>> 16);
}

/** The text of a Python `bytes` value: `b'…'`. */
export function pythonBytes(bytes: Uint8Array): string {
  const quote = bytes.includes(0x27) && !bytes.includes(0x22) ? '"' : "'";
  const text = Array.from(bytes, (byte) => {
    const char = String.fromCharCode(byte);
    if (char === '\\' || char === quote) return `\\${char}`;
    if (char === '\n') return '\\n';
    if (char === '\r') return '\\r';
    if (char === '\t') return '\\t';
    return byte >= 0x20 && byte < 0x7f ? char : `\\x${byte.toString(16).padStart(2, '0')}`;
  });
  return `b${quote}${text.join('')}${quote}`;
}

/** The result of `str(dict)` in Python. */
export function pythonDict(json: JsonNode): string {
  switch (json.kind) {
    case 'object': {
      const items = json.members.map(([name, value]) => `${quoted(name)}: ${pythonDict(value)}`);
      return `{${items.join(', ')}}`;
    }
    case 'array':
      return `[${json.items.map(pythonDict).join(', ')}]`;
    case 'string':
      return quoted(json.value);
    case 'number':
      return json.text;
    case 'word':
      return { true: 'True', false: 'False', null: 'None' }[json.text];
    default:
      return json satisfies never;
  }
}

/** The result of `toString()` of a Map in Java. */
export function javaMap(json: JsonNode): string {
  switch (json.kind) {
    case 'object':
      return `{${json.members.map(([name, value]) => `${name}=${javaMap(value)}`).join(', ')}}`;
    case 'array':
      return `[${json.items.map(javaMap).join(', ')}]`;
    case 'string':
      return json.value;
    default:
      return json.text;
  }
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}
