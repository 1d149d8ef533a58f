/** The three headers (contract 2.2): there, once, not empty. */
import { headerValues, readAuthHeaders } from '../../../src/auth/auth-headers';

const ALL = ['X-Client-Id', 'demo-oa', 'X-Timestamp', '1717200000', 'X-Signature', 'ab12'];
const NAMES = ['X-Client-Id', 'X-Timestamp', 'X-Signature'];
const read = { clientId: 'demo-oa', timestamp: '1717200000', signature: 'ab12' };
const MISSING = expect.objectContaining({
  reason: 'HMAC_HEADERS_MISSING',
  code: 401,
  message: '缺少 HMAC 鉴权头',
  retryable: false,
});

const without = (name: string) => {
  const at = ALL.indexOf(name);
  return ALL.toSpliced(at, 2);
};
const withValue = (name: string, value: string) => ALL.with(ALL.indexOf(name) + 1, value);

test('the three headers are read as sent', () => {
  expect(readAuthHeaders(ALL)).toEqual(read);
});

test.each([
  ['lower case', ALL.map((part, index) => (index % 2 ? part : part.toLowerCase()))],
  ['upper case', ALL.map((part, index) => (index % 2 ? part : part.toUpperCase()))],
  ['a header named __proto__ beside them', ['__proto__', 'x', ...ALL, '__proto__', 'y']],
  ['headers named like object properties', ['constructor', 'x', 'hasOwnProperty', 'y', ...ALL]],
  ['a value that is named like a header', ['Via', 'X-Client-Id', ...ALL, 'Via', 'x-signature']],
])('they are found in any company: %s', (_, rawHeaders) => {
  expect(readAuthHeaders(rawHeaders)).toEqual(read);
});

test.each(NAMES)('%s missing is rejected', (name) => {
  expect(() => readAuthHeaders(without(name))).toThrow(MISSING);
});

test.each(NAMES)('%s empty is rejected', (name) => {
  expect(() => readAuthHeaders(withValue(name, ''))).toThrow(MISSING);
});

test.each(NAMES)('%s sent twice is rejected, even with the same value', (name) => {
  const value = ALL[ALL.indexOf(name) + 1] ?? '';
  expect(() => readAuthHeaders([...ALL, name, value])).toThrow(MISSING);
  expect(() => readAuthHeaders([name.toLowerCase(), 'other', ...ALL])).toThrow(MISSING);
  expect(() => readAuthHeaders([...ALL, name, ''])).toThrow(MISSING);
});

test('no headers at all are rejected', () => {
  expect(() => readAuthHeaders([])).toThrow(MISSING);
});

test('all values of a header come in their order', () => {
  expect(headerValues(['A', '1', 'b', 'a', 'a', '2'], 'a')).toEqual(['1', '2']);
  expect(headerValues(['__proto__', '1'], '__proto__')).toEqual(['1']);
});
