/** Writes JSON in the manners of other languages: layout, escapes, order of members, numbers. */
import { hashOrder } from './hash-order';
import type { Json, Member } from './json-tree';

export interface Style {
  readonly layout: Layout;
  readonly quote: Quote;
  readonly order?: Order;
  readonly numbers?: (text: string) => string;
  /** Members that are null are left out. */
  readonly dropNulls?: boolean;
  /** Empty objects become empty lists, as in PHP. */
  readonly emptyIsList?: boolean;
}

export interface Layout {
  readonly colon: string;
  /** Between items on one line. */
  readonly comma: string;
  /** Of one level; undefined: all on one line. */
  readonly indent?: string;
  /** Lists stay on one line, as in Jackson, and what is empty has a blank within. */
  readonly inlineLists?: boolean;
}

export const COMPACT: Layout = { colon: ':', comma: ',' };
export const SPACED: Layout = { colon: ': ', comma: ', ' };
export const pretty = (indent: string): Layout => ({ colon: ': ', comma: ',', indent });
export const JACKSON: Layout = { colon: ' : ', comma: ',', indent: '  ', inlineLists: true };

export type Quote = (text: string) => string;
export type Order = (members: readonly Member[], depth: number) => readonly Member[];

export function writeJson(root: Json, style: Style): string {
  const { layout, quote, order = (members) => members, numbers = (text) => text } = style;
  const { colon, comma, indent, inlineLists = false } = layout;
  const block = (open: string, items: readonly string[], close: string, depth: number) => {
    if (items.length === 0) return open + (inlineLists ? ' ' : '') + close;
    if (indent === undefined) return open + items.join(comma) + close;
    const inner = `\n${indent.repeat(depth + 1)}`;
    return `${open}${inner}${items.join(`,${inner}`)}\n${indent.repeat(depth)}${close}`;
  };
  const write = (json: Json, depth: number): string => {
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

const isNull = (json: Json) => json.kind === 'word' && json.text === 'null';

const quoteWith =
  (pattern: RegExp, write: (char: string) => string): Quote =>
  (text) =>
    JSON.stringify(text).replace(pattern, write);
const unicode = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const UNICODE = (char: string) => `\\u${unicode(char).slice(2).toUpperCase()}`;

/** The names and texts, within their quotes. */
export const plain: Quote = (text) => JSON.stringify(text);
/** Python: also DEL. */
export const printable = quoteWith(/[\u007f-\uffff]/g, unicode);
export const ascii = quoteWith(/[\u0080-\uffff]/g, unicode);
export const slashed = quoteWith(/\/|[\u2028\u2029]/g, (char) =>
  char === '/' ? '\\/' : unicode(char),
);
export const slashedAscii = quoteWith(/\/|[\u0080-\uffff]/g, (char) =>
  char === '/' ? '\\/' : unicode(char),
);
export const html = quoteWith(/[<>&\u2028\u2029]/g, unicode);
/** Until Go 1.21. */
export const htmlOld: Quote = (text) =>
  html(text).replace(/\\\\|\\[bf]/g, (found) =>
    found === '\\b' ? '\\u0008' : found === '\\f' ? '\\u000c' : found,
  );
export const gson = quoteWith(/[<>&='\u2028\u2029]/g, unicode);
export const dotnet: Quote = (text) =>
  `"${JSON.stringify(text)
    .slice(1, -1)
    .replace(/\\"/g, '\\u0022')
    .replace(/[<>&'+`\u007f-\uffff]/g, UNICODE)}"`;

export const sorted: Order = (members) =>
  members
    .map((member) => [Buffer.from(member[0]), member] as const)
    .sort(([a], [b]) => Buffer.compare(a, b))
    .map(([, member]) => member);
export const sortedAtTop: Order = (members, depth) => (depth === 0 ? sorted(members, 0) : members);
export const byHash: Order = hashOrder;
/** JavaScript puts names that are whole numbers first. */
export const numbersFirst: Order = (members) => {
  const isIndex = ([name]: Member) => /^(?:0|[1-9]\d{0,9})$/.test(name);
  const first = members.filter(isIndex).sort(([a], [b]) => Number(a) - Number(b));
  return [...first, ...members.filter((member) => !isIndex(member))];
};
