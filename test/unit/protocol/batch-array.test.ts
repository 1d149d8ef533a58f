/** A batch that is a JSON array: from its bytes to its elements, which are its lines. */
import fc from 'fast-check';
import { splitArray } from '../../../src/protocol/batch-array';
import { maxLineCount, readBatchLines, readLine } from '../../../src/protocol/batch-lines';
import { PushError } from '../../../src/protocol/errors';
import { MAX_BRACKETS } from '../../../src/protocol/json-body';
import { resultOf } from '../../support/steps';

const LIMITS = { lines: 20, bodyBytes: 1_000 };

const linesOf = (text: string | Buffer, limits = LIMITS) =>
  resultOf(readBatchLines(Buffer.from(text), limits));
const textsOf = (text: string | Buffer) =>
  linesOf(text).map(({ number, bytes }) => `${number} ${bytes}`);

/** The reason, and the texts in English. */
function rejectionOf(text: string | Buffer): string[] {
  try {
    linesOf(text);
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    return [error.reason, ...(error.errors ?? []).map(({ english = '' }) => english)];
  }
  return [];
}
const brokenAt = (byte: number, line: number) => [
  'INVALID_JSON',
  `the JSON array is invalid in element ${line}, at byte ${byte} (counted from 0)`,
];

test.each([
  ['blanks anywhere', ' \n\t[\r\n {"a" : 1}\n,\t{"b":2} ] \n', ['1 {"a" : 1}', '2 {"b":2}']],
  ['a byte order mark', '\ufeff[{"a":1}]', ['1 {"a":1}']],
  [
    'brackets and commas in texts',
    '[{"a":"]},[{"},"[",","]',
    ['1 {"a":"]},[{"}', '2 "["', '3 ","'],
  ],
  [
    'escapes',
    '[{"a\\"]":"\\\\"},"\\"","\\u005d"]',
    ['1 {"a\\"]":"\\\\"}', '2 "\\""', '3 "\\u005d"'],
  ],
  ['characters of several bytes', '["€ 😀",{"事项":"］，"}]', ['1 "€ 😀"', '2 {"事项":"］，"}']],
  [
    'lists in objects in lists',
    '[{"a":[[],{"b":[{}]}]},[[1,2],3]]',
    ['1 {"a":[[],{"b":[{}]}]}', '2 [[1,2],3]'],
  ],
  ['numbers and words', '[ -1.5e3 , true,null]', ['1 -1.5e3', '2 true', '3 null']],
  ['the same element again', '[{"a":1},{"a":1}]', ['1 {"a":1}', '2 {"a":1}']],
])('%s: each element is a line with its own bytes', (_, text, expected) => {
  expect(textsOf(text)).toEqual(expected);
});

test.each([
  ['a trailing comma', '[{"a":1},]', brokenAt(9, 2)],
  ['a leading comma', '[,{}]', brokenAt(1, 1)],
  ['two commas', '[{},,{}]', brokenAt(4, 2)],
  ['no comma', '[{} {}]', brokenAt(4, 2)],
  ['a truncated array', '[{},{"a":1}', brokenAt(11, 3)],
  ['a truncated element', '[{},{"a":[1', brokenAt(11, 2)],
  ['nothing after the bracket', ' [', brokenAt(2, 1)],
  ['a text without an end', '[{},"abc]', brokenAt(4, 2)],
  ['a text that ends in an escape', '["abc\\', brokenAt(1, 1)],
  ['a name without an end', '[{"abc', brokenAt(2, 1)],
  ['a quote too many', '[{"a":"b"c"},{"a":"d"}]', brokenAt(9, 1)],
  ['a name without quotes', '[{a:1}]', brokenAt(2, 1)],
  ['a name without a value', '[{"a"}]', brokenAt(2, 1)],
  ['a value without a name', '[{1}]', brokenAt(2, 1)],
  ['a comma before a closing brace', '[{"a":1,}]', brokenAt(8, 1)],
  ['another closing bracket', '[{"a":[1}]', brokenAt(8, 1)],
  ['garbage after the array', '[{}] x', brokenAt(5, 2)],
  ['a second array', '[{}]\n[{}]', brokenAt(5, 2)],
  ['lines after an array', '[{}]\n{"op":"delete"}\n', brokenAt(5, 2)],
  ['a control character between elements', '[{}\u0000,{}]', brokenAt(3, 2)],
])('%s: the array is rejected as a whole, with the position', (_, text, expected) => {
  expect(rejectionOf(text)).toEqual(expected);
  expect(resultOf(maxLineCount(Buffer.from(text), LIMITS))).toBeGreaterThanOrEqual(1);
});

test.each(['[]', ' [ \n ] ', '\ufeff[]'])('an empty array %j is an empty batch', (text) => {
  expect(rejectionOf(text)).toEqual(['EMPTY_BATCH']);
  expect(resultOf(maxLineCount(Buffer.from(text), LIMITS))).toBe(1);
});

test('elements are counted up to the limit, and not beyond', () => {
  const array = (count: number) => `[${Array(count).fill('{}')}]`;
  expect(linesOf(array(20))).toHaveLength(20);
  const many = rejectionOf(array(21));
  expect(many).toEqual(['TOO_MANY_LINES', 'has more than 20 lines']);
  // What follows the last element that counts is not read.
  expect(rejectionOf(`${array(21).slice(0, -1)},{"`)).toEqual(many);
  expect(resultOf(maxLineCount(Buffer.from(array(20)), LIMITS))).toBe(20);
  expect(resultOf(maxLineCount(Buffer.from(array(5_000)), LIMITS))).toBe(21);
  expect(linesOf(array(1_000), { ...LIMITS, lines: 1_000 })).toHaveLength(1_000);
});

test('line breaks in an array do not count', () => {
  expect(linesOf(`[${'\n'.repeat(500)}{}]`)).toHaveLength(1);
  expect(resultOf(maxLineCount(Buffer.from(`[\n${'{},\n'.repeat(4)}{}]`), LIMITS))).toBe(5);
});

test.each([
  ['in an element, whose number is named', ['[{},{"a":"', [0xff], '"}]'], ['line 2 is not UTF-8']],
  ['in a broken array', ['[{"a":"', [0xd5, 0x5c], '"}]'], []],
])('a byte that is not UTF-8 %s', (_, parts, told) => {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  expect(rejectionOf(bytes)).toEqual(['INVALID_ENCODING', ...told]);
});

test('a value that is nested millions of levels deep ends the array', () => {
  const deepest = `${'['.repeat(MAX_BRACKETS)}1${']'.repeat(MAX_BRACKETS)}`;
  expect(linesOf(`[${deepest}]`)).toHaveLength(1);
  expect(rejectionOf(`[[${deepest}]]`)).toEqual(brokenAt(MAX_BRACKETS + 1, 1));
  expect(rejectionOf('['.repeat(1_000_000))).toEqual(brokenAt(MAX_BRACKETS + 1, 1));
});

describe('an element', () => {
  const read = (text: string) => linesOf(text).map((line) => readLine(line, LIMITS));
  const reasons = (text: string) =>
    read(text).map((line) => (line instanceof PushError ? line.reason : line.op));

  test('has its operation, its key and its body as it was sent, line breaks included', () => {
    const body = '{\n  "externalId" :\t"A",\r\n  "title": "]"\n}';
    const [line] = read(`[\n{\n"body"\n:\n${body}\n,\n"op": "upsert", "key": "k"\n}\n]`);
    expect(line).toMatchObject({ op: 'upsert', key: 'k', body: { externalId: 'A', title: ']' } });
    expect(String((line as { rawBody: Buffer }).rawBody)).toBe(body);
  });

  test('that is no push is an error of its line alone', () => {
    const good = '{"op":"delete","body":{"externalId":"A"}}';
    const deep = `{"op":"upsert","body":{"a":${'['.repeat(40)}${']'.repeat(40)}}}`;
    const long = `{"op":"upsert","body":{"a":"${'x'.repeat(1_000)}"}}`;
    const odd = ['1', 'null', '[{}]', '"x"', 'NaN', '{"a":01}', '{"a":"\\x"}', '{"a":"\u0001"}'];
    expect(reasons(`[${[good, ...odd, good].join(',')}]`)).toEqual([
      'delete',
      ...odd.map(() => 'INVALID_JSON'),
      'delete',
    ]);
    expect(reasons(`[${[deep, long, '{"op":"x","body":{}}', good].join(',')}]`)).toEqual([
      'VALIDATION_FAILED',
      'BODY_TOO_LARGE',
      'VALIDATION_FAILED',
      'delete',
    ]);
  });
});

describe('any array', () => {
  const blanks = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
  const element = fc
    .tuple(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(0, 1))
    .map(([value, space]) => JSON.stringify(value, null, space));
  const arrays = fc
    .array(fc.tuple(blanks, element, blanks), { maxLength: 6 })
    .map((parts) => parts.map((part) => part.join('')).join(','))
    .chain((inner) => fc.tuple(blanks, blanks).map(([a, b]) => `${a}[${inner}]${b}`));
  const split = (text: string) => {
    const bytes = Buffer.from(text);
    return resultOf(splitArray(bytes, bytes.indexOf('['), 1_000));
  };
  const parsed = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      // `undefined` means that it is no JSON.
      return undefined;
    }
  };

  test('has the elements that JSON.parse finds', () => {
    fc.assert(
      fc.property(arrays, (text) => {
        const { elements, wrongAt } = split(text);
        expect(wrongAt).toBeUndefined();
        expect(elements.map((bytes) => JSON.parse(String(bytes)))).toEqual(JSON.parse(text));
        for (const bytes of elements) expect(String(bytes)).toBe(String(bytes).trim());
      }),
      { numRuns: 500 },
    );
  });

  test('in which something is changed is broken, or has an element that is no JSON, if it is none', () => {
    const changes = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      isKept: fc.boolean(),
      added: fc.constantFrom('', '"', '\\', ',', ':', '[', ']', '{', '}', '1', 'x', ' ', '\u0000'),
    });
    fc.assert(
      fc.property(arrays, changes, (text, { at, isKept, added }) => {
        const place =
          1 + text.indexOf('[') + Math.floor(at * (text.length - text.indexOf('[') - 1));
        const changed = text.slice(0, place) + added + text.slice(isKept ? place : place + 1);
        const { elements, wrongAt } = split(changed);
        const isWhole = wrongAt === undefined;
        const all = elements.map((bytes) => parsed(String(bytes)));
        const value = parsed(changed);
        if (value === undefined) expect(isWhole && !all.includes(undefined)).toBe(false);
        else expect([isWhole, all]).toEqual([true, value]);
      }),
      { numRuns: 1_000 },
    );
  });
});
