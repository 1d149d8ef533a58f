/** From raw bytes to a JSON object: nothing is replaced, guessed or cut on the way. */
import { parseJsonBody } from '../../../src/protocol/json-body';

const bytes = (text: string) => Buffer.from(text, 'utf8');
const rejection = (reason: string, message: string) =>
  expect.objectContaining({ code: 400, reason, message, retryable: false });
const BAD_ENCODING = rejection('INVALID_ENCODING', '请求体不是合法的 UTF-8');
const BAD_JSON = rejection('INVALID_JSON', '请求体不是合法的 JSON 对象');
const TOO_DEEP = expect.objectContaining({
  code: 400,
  reason: 'VALIDATION_FAILED',
  errors: [expect.objectContaining({ field: '(body)' })],
});

test.each([
  ['{}', {}],
  [' {"a" : [1, "请假 🚀"]}\r\n', { a: [1, '请假 🚀'] }],
  ['{"a":"\\ufeff"}', { a: '\ufeff' }],
])('%j is an object', (text, body) => {
  expect(parseJsonBody(bytes(text))).toEqual(body);
});

test.each([
  '',
  ' ',
  'null',
  '[]',
  '[{}]',
  '1',
  '"text"',
  'true',
  '{',
  '{"a":1}x',
  "{'a':1}",
  '{"a":NaN}',
  '{"a":1,}',
])('%j is not a JSON object', (text) => {
  expect(() => parseJsonBody(bytes(text))).toThrow(BAD_JSON);
});

test('a byte order mark is named, not dropped', () => {
  const errors = [
    expect.objectContaining({ field: '(body)', message: expect.stringContaining('BOM') }),
  ];
  const named = expect.objectContaining({ reason: 'INVALID_JSON', errors });
  expect(() => parseJsonBody(bytes('\ufeff{}'))).toThrow(named);
});

test.each([
  ['a lone continuation byte', '7b2261223a2280227d'],
  ['a cut sequence', '7b2261223a22e8af227d'],
  ['an overlong form', '7b2261223a22c0af227d'],
  ['a surrogate in UTF-8', '7b2261223a22eda080227d'],
  ['beyond Unicode', '7b2261223a22f4908080227d'],
  ['GBK', '7b2261223a22c7ebbcd9227d'],
  ['UTF-16', 'fffe7b007d00'],
])('what is not UTF-8 is rejected, never replaced: %s', (_, hex) => {
  expect(() => parseJsonBody(Buffer.from(hex, 'hex'))).toThrow(BAD_ENCODING);
});

const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const arrays = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

test.each([
  ['objects', objects],
  ['arrays', arrays],
])('%s may be nested 32 deep, not 33', (_, nested) => {
  expect(parseJsonBody(bytes(nested(32)))).toHaveProperty('a');
  expect(() => parseJsonBody(bytes(nested(33)))).toThrow(TOO_DEEP);
});

test.each([
  ['objects', objects],
  ['arrays', arrays],
])('%s nested 200,000 deep are rejected like 33', (_, nested) => {
  expect(() => parseJsonBody(bytes(nested(200_000)))).toThrow(TOO_DEEP);
});

test('depth in an ignored field counts too, width does not', () => {
  expect(() => parseJsonBody(bytes(`{"a":1,"ignored":${objects(32)}}`))).toThrow(TOO_DEEP);
  const wide = `{"a":[${'{},'.repeat(2_000)}1]}`;
  expect(parseJsonBody(bytes(wide))).toHaveProperty('a.length', 2_001);
});

test('a __proto__ key is a key like others and reaches no prototype', () => {
  const body = parseJsonBody(bytes('{"__proto__":{"polluted":true},"a":1}'));
  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  expect(Object.keys(body)).toEqual(['__proto__', 'a']);
  expect('polluted' in {}).toBe(false);
});
