/** The body of a line is the bytes that were sent, and those that `JSON.parse` takes for it. */
import fc from 'fast-check';
import { bodySpan } from '../../../src/protocol/batch-array';

const bodyOf = (line: string) => bodySpan(Buffer.from(line)).toString('utf8');

// An element of an array may have line feeds.
const blanks = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
/** The same text with any of its characters written as escapes. */
const written = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((escaped) => [...text].map((char, n) => (escaped[n] ? escapeOf(char) : char)).join(''));
const escapeOf = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value));
const keys = fc.oneof(
  { weight: 2, arbitrary: written('body').map((text) => `"${text}"`) },
  fc.constantFrom('"op"', '"key"', '"__proto__"', '"bod\\\\y"', '"\\"body"', '"Body"', '""'),
  fc.string().map((text) => JSON.stringify(text)),
);
const member = fc
  .tuple(blanks, keys, blanks, blanks, json, blanks)
  .map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`);
/** JSON objects with blanks anywhere, and fields that stand there more than once. */
const lines = fc
  .tuple(blanks, fc.array(member, { maxLength: 6 }), blanks)
  .map(([before, members, after]) => `${before}{${members.join(',')}}${after}`)
  .filter((line) => Object.hasOwn(JSON.parse(line), 'body'));

test('whatever else stands in the line, the span is the body that JSON.parse finds', () => {
  fc.assert(
    fc.property(lines, (line) => {
      const span = bodyOf(line);
      expect(JSON.parse(span)).toEqual(JSON.parse(line).body);
      expect(span).toBe(span.trim());
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['of two the last one', '{"body":{"a":1},"op":"x","body":{"a":2}}', '{"a":2}'],
  ['a key that is written with escapes', '{"body":{"a":1},"\\u0062ody":{"a":2}}', '{"a":2}'],
  [
    'text that looks like one',
    '{"op":"\\",\\"body\\":{}","body":{"b":"}]\\\\"}}',
    '{"b":"}]\\\\"}',
  ],
  ['a field of a field', '{"x":{"body":1},"body":{"body":{}},"y":[{"body":2}]}', '{"body":{}}'],
  ['blanks around it', '\t{ "body"\t: \r{ "a" : 1 } \t, "op":1}\r', '{ "a" : 1 }'],
  ['characters of several bytes', '{"op":"事项","body":{"标题":"€ 😀"}}', '{"标题":"€ 😀"}'],
])('%s', (_, line, body) => {
  expect(bodyOf(line)).toBe(body);
  expect(JSON.parse(body)).toEqual(JSON.parse(line).body);
});

test('it is a part of the same memory', () => {
  const line = Buffer.from('{"body":{"a":1}}');
  expect(bodySpan(line).buffer).toBe(line.buffer);
});

test('nesting of any depth takes no stack', () => {
  const depth = 500_000;
  const body = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(bodyOf(`{"op":"upsert","body":${body},"key":"k"}`)).toBe(body);
});

test.each(['', ' ', '{}', '{"body"', '{"body":', '"', '{"a":"\\'])(
  'bytes that are no line end the search all the same: %p',
  (line) => {
    expect(bodySpan(Buffer.from(line)).length).toBeLessThanOrEqual(line.length);
  },
);
