/** A document is compressed for who takes that, once, and is not sent again to who has it. */
import { gunzipSync } from 'node:zlib';
import { acceptsGzip, answerDocument, toPlainDocument } from '../../../src/http/documents';

const TEXT = 'export const word = "word";\n'.repeat(100);
const file = toPlainDocument(Buffer.from(TEXT), 'text/javascript');
const GZIP = { 'accept-encoding': 'gzip, deflate, br' };

test.each([
  ['', false],
  ['gzip', true],
  ['GZIP', true],
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, gzip;q=0.5', true],
  ['gzip ; q=0.001', true],
  ['gzip;q=0', false],
  ['gzip; q=0.000, *', false],
  ['*', true],
  ['*;q=0', false],
  ['identity', false],
  ['gzipped', false],
  ['gzip;q=x', false],
])('Accept-Encoding: %s takes gzip: %s', (accepted, takes) => {
  expect(acceptsGzip(accepted)).toBe(takes);
});

test('each encoding has its own bytes, length and ETag, and a cache is told what they depend on', () => {
  const plain = answerDocument(file, {});
  expect(String(plain.body)).toBe(TEXT);
  expect(plain.headers).toMatchObject({
    'Content-Length': String(TEXT.length),
    Vary: 'Accept-Encoding',
  });
  expect(plain.headers).not.toHaveProperty('Content-Encoding');
  const gzipped = answerDocument(file, GZIP);
  expect(String(gunzipSync(gzipped.body ?? ''))).toBe(TEXT);
  expect(gzipped.headers).toMatchObject({
    'Content-Encoding': 'gzip',
    'Content-Length': String(gzipped.body?.length),
    Vary: 'Accept-Encoding',
  });
  expect(gzipped.headers.ETag).not.toBe(plain.headers.ETag);
});

test('it is compressed once', () => {
  expect(answerDocument(file, GZIP).body).toBe(answerDocument(file, GZIP).body);
});

test('what is one packet anyway is sent as it is', () => {
  const { headers } = answerDocument(
    toPlainDocument(Buffer.from('let a;'), 'text/javascript'),
    GZIP,
  );
  expect(headers).not.toHaveProperty('Content-Encoding');
});

test('it is not sent again to who has these bytes of this encoding', () => {
  const { ETag: plain = '' } = answerDocument(file, {}).headers;
  const { ETag: gzipped = '' } = answerDocument(file, GZIP).headers;
  const statusOf = (known: string, more: object) =>
    answerDocument(file, { 'if-none-match': known, ...more }).status;
  expect(statusOf(plain, {})).toBe(304);
  expect(statusOf(gzipped, GZIP)).toBe(304);
  expect(statusOf(`"other", W/${gzipped}`, GZIP)).toBe(304);
  expect(statusOf('*', GZIP)).toBe(304);
  expect(statusOf(plain, GZIP)).toBe(200);
  expect(statusOf(gzipped, {})).toBe(200);
  expect(statusOf(gzipped, { ...GZIP, 'cache-control': 'no-cache' })).toBe(200);
  const { headers, body } = answerDocument(file, { ...GZIP, 'if-none-match': gzipped });
  expect(body).toBeUndefined();
  expect(headers).toMatchObject({ ETag: gzipped, Vary: 'Accept-Encoding' });
});
