/** From the bytes of a batch to its lines, bounded before any of them is looked at. */
import fc from 'fast-check';
import { maxLineCount, readBatchLines, readLine } from '../../../src/protocol/batch-lines';
import { PushError } from '../../../src/protocol/errors';
import { resultOf } from '../../support/steps';

const LIMITS = { lines: 20, bodyBytes: 1_000 };

const linesOf = (text: string | Buffer) => resultOf(readBatchLines(Buffer.from(text), LIMITS));
const rejectionOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    if (error instanceof PushError) return error.reason;
    throw error;
  }
  return undefined;
};

const toldOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    return (error as PushError).errors?.map(({ english }) => english);
  }
  return undefined;
};

const content = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.constantFrom('', ' ', '\t', '\r', '\r\r', '{"op":"upsert"}', '事项'),
);
const batches = fc
  .record({
    mark: fc.boolean(),
    contents: fc.array(content, { maxLength: 20 }),
    feed: fc.constantFrom('\n', '\r\n'),
    isEnded: fc.boolean(),
  })
  .map(({ mark, contents, feed, isEnded }) => ({
    contents,
    text: `${mark ? '\ufeff' : ''}${contents.join(feed)}${isEnded ? feed : ''}`,
  }));

const isBlank = (text: string) => /^[ \t\r]*$/.test(text);

test('lines with something in them are found, with their numbers', () => {
  fc.assert(
    fc.property(batches, ({ text, contents }) => {
      const bytes = Buffer.from(text);
      const expected = contents.flatMap((text, n) =>
        isBlank(text) ? [] : [{ number: n + 1, text: text.trim() }],
      );
      expect(resultOf(maxLineCount(bytes, LIMITS))).toBeGreaterThanOrEqual(expected.length);
      if (expected.length === 0) {
        expect(rejectionOf(() => linesOf(bytes))).toBe('EMPTY_BATCH');
        return;
      }
      const found = linesOf(bytes).map(({ number, bytes: line }) => ({
        number,
        text: line.toString().trim(),
      }));
      expect(found).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test('lines with something in them are counted, up to the limit', () => {
  const line = '{}\n';
  expect(linesOf(line.repeat(20))).toHaveLength(20);
  expect(linesOf(`\n\n${line.repeat(20)}\r\n  \n`)).toHaveLength(20);
  expect(rejectionOf(() => linesOf(line.repeat(21)))).toBe('TOO_MANY_LINES');
});

test('line feeds without end are counted up to the limit', () => {
  const whole = Buffer.from('\n'.repeat(100_000));
  expect(resultOf(maxLineCount(whole, LIMITS))).toBe(202);
  expect(rejectionOf(() => linesOf(whole))).toBe('TOO_MANY_LINES');
  expect(toldOf(() => linesOf(whole))).toEqual(['has more than 200 line breaks']);
  expect(toldOf(() => linesOf('{}\n'.repeat(21)))).toEqual(['has more than 20 lines']);
});

test.each([
  ['a byte that is none of UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['half a character at the end', Buffer.from('{"a":"€').subarray(0, 7)],
  ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
])('%s rejects all of it', (_, bytes) => {
  expect(rejectionOf(() => linesOf(bytes))).toBe('INVALID_ENCODING');
});

test.each([
  ['line 1', ['\ufeff', [0xff], '\n{}\n']],
  ['line 4', ['{"a":"€"}\r\n\n{}\n{"a":"', [0xc4, 0xe3], '"}\n', [0xff], '\n']],
  ['line 2', ['{}\n{"a":"', [0xe2, 0x82], '\n', [0xac], '"}']],
  ['line 3', ['{}\n\n{"a":"', [0xe2, 0x82]]],
])('and names the first line that has one: %s', (line, parts) => {
  const bytes = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  expect(toldOf(() => linesOf(bytes))).toEqual([`${line} is not UTF-8`]);
});

describe('a line', () => {
  const read = (text: string) => readLine({ number: 1, bytes: Buffer.from(text) }, LIMITS);
  const fieldsOf = (found: ReturnType<typeof read>) =>
    found instanceof PushError
      ? [found.reason, ...(found.errors ?? []).map(({ field }) => field)]
      : [];

  test('has its operation, its key and its body as it was sent', () => {
    const found = read(' {"key":"k","op":"delete", "body" : {"externalId": "A" } } ');
    expect(found).toMatchObject({ op: 'delete', key: 'k', body: { externalId: 'A' } });
    expect(String((found as { rawBody: Buffer }).rawBody)).toBe('{"externalId": "A" }');
  });

  test.each([
    ['{"op":"delete","body":{}}', []],
    ['{"op":"delete","body":{},"key":"k"}', []],
    ['{"op":"delete","body":{"x":1},"kee":"k"}', ['kee']],
    ['{"a":1,"op":"delete","key":"k","__proto__":{},"body":{}}', ['a', '__proto__']],
  ])('tells what it has beside them: %s', (text, unknownLineFields) => {
    expect(read(text)).toMatchObject({ unknownLineFields });
  });

  test.each([
    ['no json', ['INVALID_JSON', '(line)']],
    ['[{"op":"upsert","body":{}}]', ['INVALID_JSON', '(line)']],
    ['null', ['INVALID_JSON', '(line)']],
    ['"upsert"', ['INVALID_JSON', '(line)']],
    ['{"op":"upsert","body":{}}{"op":"upsert","body":{}}', ['INVALID_JSON', '(line)']],
    ['{"op":"destroy","body":{}}', ['VALIDATION_FAILED', 'op']],
    ['{"op":"__proto__","body":{}}', ['VALIDATION_FAILED', 'op']],
    ['{"op":["upsert"],"body":{}}', ['VALIDATION_FAILED', 'op']],
    ['{"__proto__":{"op":"upsert","body":{}}}', ['VALIDATION_FAILED', 'op', 'body']],
    ['{"op":"upsert"}', ['VALIDATION_FAILED', 'body']],
    ['{"op":"upsert","body":[]}', ['VALIDATION_FAILED', 'body']],
    ['{"op":"upsert","body":null}', ['VALIDATION_FAILED', 'body']],
    ['{"op":"upsert","body":"{}"}', ['VALIDATION_FAILED', 'body']],
    ['{"op":"upsert","body":{},"body":1}', ['VALIDATION_FAILED', 'body']],
    ['{"op":"upsert","body":{},"key":""}', ['VALIDATION_FAILED', 'key']],
    ['{"op":"upsert","body":{},"key":" k"}', ['VALIDATION_FAILED', 'key']],
    ['{"op":"upsert","body":{},"key":"k "}', ['VALIDATION_FAILED', 'key']],
    ['{"op":"upsert","body":{},"key":" "}', ['VALIDATION_FAILED', 'key']],
    ['{"op":"upsert","body":{},"key":1}', ['VALIDATION_FAILED', 'key']],
    ['{"op":"upsert","body":{},"key":null}', ['VALIDATION_FAILED', 'key']],
    [`{"op":"upsert","body":{},"key":"${'k'.repeat(256)}"}`, ['VALIDATION_FAILED', 'key']],
    [`{"op":"upsert","body":{"a":"${'x'.repeat(1_000)}"}}`, ['BODY_TOO_LARGE']],
    [`{"op":"upsert","body":${'['.repeat(60_000)}`, ['VALIDATION_FAILED', '(line)']],
    [`{"op":"upsert","body":{"a":[${'1,'.repeat(10_001)}1]}}`, ['VALIDATION_FAILED', '(line)']],
    [' '.repeat(LIMITS.bodyBytes + 64 * 1024 + 1), ['BODY_TOO_LARGE']],
  ])('names what is wrong with it: %.60s', (text, expected) => {
    expect(fieldsOf(read(text))).toEqual(expected);
  });

  test('a body is as long as its own bytes: blanks around it are none of it', () => {
    const body = `{"a":"${'x'.repeat(LIMITS.bodyBytes - 8)}"}`;
    const blanks = ' '.repeat(5_000);
    expect(read(`{"op":"upsert",${blanks}"body":${blanks}${body}${blanks}}`)).toMatchObject({
      op: 'upsert',
    });
    expect(fieldsOf(read(`{"op":"upsert","body":${body.replace('x', 'xx')}}`))).toEqual([
      'BODY_TOO_LARGE',
    ]);
  });
});
