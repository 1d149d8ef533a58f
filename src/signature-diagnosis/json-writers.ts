/**
 * JSON serializers that a caller may have used for the signed body. The diagnosis reports the first serializer in
 * `WRITERS` that writes the signed text.
 */
import type { Cause } from './causes';
import {
  ascii,
  byHash,
  COMPACT,
  dotnet,
  gson,
  html,
  htmlOld,
  JACKSON,
  numbersFirst,
  plain,
  pretty,
  pythonAscii,
  SPACED,
  type Style,
  slashed,
  slashedAscii,
  sorted,
  sortedAtTop,
} from './json-text';

const isWhole = (text: string) => /^-?\d+$/.test(text);

/** Writes a number like JavaScript: `1.0` becomes `1`. */
export const asDouble = (text: string): string => JSON.stringify(Number(text));

/** Writes a number like `json.dumps` in Python. */
export function asPython(text: string): string {
  if (isWhole(text)) return text === '-0' ? '0' : text;
  const value = Number(text);
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  const size = Math.abs(value);
  if (value !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return Number.isInteger(value) ? `${Object.is(value, -0) ? '-0' : value}.0` : String(value);
}

/** Writes a number like Gson with the type `Object`: `1` becomes `1.0`. */
export const asJavaDouble = (text: string): string =>
  isWhole(text) && Math.abs(Number(text)) < 1e7 ? `${Number(text)}.0` : text;

export interface Writer {
  readonly cause: Cause;
  /** Detail of the mistake, shown after the explanation of `cause`. */
  readonly how: string;
  readonly style: Style;
}

const INDENTS: readonly (readonly [name: string, indent: string])[] = [
  ['2 blanks', '  '],
  ['4 blanks', '    '],
  ['tabs', '\t'],
];

const of =
  (cause: Cause) =>
  (how: string, style: Style): Writer => ({ cause, how, style });
const js = of('BODY_AS_JAVASCRIPT');
const python = of('BODY_AS_PYTHON');
const php = of('BODY_AS_PHP');
const go = of('BODY_AS_GO');
const java = of('BODY_AS_JAVA');
const net = of('BODY_AS_DOTNET');
const sort = of('BODY_SORTED');
const indented = of('BODY_PRETTY');

const PYTHON = { numbers: asPython };
const JAVASCRIPT = { quote: plain, numbers: asDouble, order: numbersFirst };

const ONE_LINE: readonly Writer[] = [
  js('JSON.stringify(body), or another compact writer', { layout: COMPACT, ...JAVASCRIPT }),
  js('a compact writer', { layout: COMPACT, quote: plain }),
  python('json.dumps(body)', { layout: SPACED, quote: pythonAscii, ...PYTHON }),
  python('json.dumps(body, ensure_ascii=False)', { layout: SPACED, quote: plain, ...PYTHON }),
  php('json_encode($body)', { layout: COMPACT, quote: slashedAscii, emptyIsList: true }),
  php('json_encode($body)', { layout: COMPACT, quote: slashedAscii, numbers: asDouble }),
  python('json.dumps(body, separators=(",", ":"))', {
    ...{ layout: COMPACT, quote: pythonAscii, ...PYTHON },
  }),
  php('json_encode with JSON_UNESCAPED_UNICODE', { layout: COMPACT, quote: slashed }),
  php('json_encode with JSON_UNESCAPED_UNICODE', {
    ...{ layout: COMPACT, quote: slashed, emptyIsList: true },
  }),
  php('json_encode with JSON_UNESCAPED_SLASHES', {
    ...{ layout: COMPACT, quote: ascii, emptyIsList: true },
  }),
  go('json.Marshal of a struct', { layout: COMPACT, quote: html }),
  go('json.Marshal of a struct', { layout: COMPACT, quote: htmlOld }),
  java('Gson', { layout: COMPACT, quote: gson }),
  java('Gson, without nulls', { layout: COMPACT, quote: gson, dropNulls: true }),
  java('Gson, numbers as doubles', { layout: COMPACT, quote: gson, numbers: asJavaDouble }),
  net('System.Text.Json', { layout: COMPACT, quote: dotnet }),
  of('BODY_WITHOUT_NULLS')('a compact writer', {
    ...{ layout: COMPACT, quote: plain, dropNulls: true },
  }),
];

const REORDERED: readonly Writer[] = [
  sort('compact, like a map in Go', { layout: COMPACT, quote: plain, order: sorted }),
  go('json.Marshal of a map', { layout: COMPACT, quote: html, order: sorted, numbers: asDouble }),
  go('json.Marshal of a map', { layout: COMPACT, quote: htmlOld, order: sorted }),
  sort('json.dumps(body, sort_keys=True)', {
    ...{ layout: SPACED, quote: pythonAscii, order: sorted, ...PYTHON },
  }),
  sort('with blanks', { layout: SPACED, quote: plain, order: sorted, ...PYTHON }),
  sort('json.dumps with sort_keys and separators', {
    ...{ layout: COMPACT, quote: pythonAscii, order: sorted, ...PYTHON },
  }),
  sort('ksort and json_encode', { layout: COMPACT, quote: slashedAscii, order: sorted }),
  sort('ksort and json_encode', { layout: COMPACT, quote: slashed, order: sorted }),
  sort('at the top only', { layout: COMPACT, quote: plain, order: sortedAtTop }),
  sort('at the top only', { layout: SPACED, quote: pythonAscii, order: sortedAtTop, ...PYTHON }),
  sort('at the top only, with json_encode', {
    ...{ layout: COMPACT, quote: slashedAscii, order: sortedAtTop },
  }),
  sort('without nulls', { layout: COMPACT, quote: plain, order: sorted, dropNulls: true }),
  java('a HashMap', { layout: COMPACT, quote: plain, order: byHash }),
  java('a HashMap and Gson', { layout: COMPACT, quote: gson, order: byHash }),
];

const PRETTY: readonly Writer[] = INDENTS.flatMap(([name, indent]) => [
  indented(`indented by ${name}`, { layout: pretty(indent), quote: plain }),
  indented(`indented by ${name}`, { layout: pretty(indent), ...JAVASCRIPT }),
  indented(`indented by ${name}, as Python does`, {
    ...{ layout: pretty(indent), quote: pythonAscii, ...PYTHON },
  }),
  indented(`indented by ${name}, as PHP does`, { layout: pretty(indent), quote: slashedAscii }),
  indented(`indented by ${name}, as PHP does`, { layout: pretty(indent), quote: slashed }),
  indented(`indented by ${name}, as Go does`, { layout: pretty(indent), quote: html }),
  indented(`indented by ${name}, as Gson does`, { layout: pretty(indent), quote: gson }),
  indented(`indented by ${name}, as .NET does`, { layout: pretty(indent), quote: dotnet }),
  sort(`indented by ${name}`, { layout: pretty(indent), quote: plain, order: sorted }),
  sort(`indented by ${name}`, { layout: pretty(indent), quote: html, order: sorted }),
  sort(`indented by ${name}`, {
    layout: pretty(indent),
    quote: pythonAscii,
    order: sorted,
    ...PYTHON,
  }),
]);

const AS_JACKSON = indented('indented by Jackson', { layout: JACKSON, quote: plain });

export const WRITERS: readonly Writer[] = [...ONE_LINE, ...REORDERED, ...PRETTY, AS_JACKSON];
