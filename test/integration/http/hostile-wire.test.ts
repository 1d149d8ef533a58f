/**
 * Bytes that are no HTTP, or HTTP with two readings: rejected in the envelope, the connection is
 * closed, and nothing that is hidden in them is ever done.
 */
import { attack, SMUGGLED } from '../../support/attack';
import { authLines, chunked, type RawPush, rawPush } from '../../support/raw-http';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
afterAll(() => service.stop());

const bodyOf = (externalId: string) =>
  JSON.stringify({ matterType: 'TODO', externalId, title: 'x' });
const BODY = bodyOf('HOSTILE');
const TE = 'Transfer-Encoding: chunked';
const LENGTH = `Content-Length: ${BODY.length}`;

/** A push that is signed and right but for `changes`. */
function hostile(changes: Partial<RawPush> = {}): string {
  const { clientId, secret } = service;
  return rawPush({ clientId, secret, body: BODY, ...changes });
}
const hidden = () => hostile({ body: bodyOf(SMUGGLED) });

const MALFORMED = { code: 400, reason: 'MALFORMED_REQUEST', data: null };
const TOO_LARGE = { code: 431, reason: 'HEADERS_TOO_LARGE', data: null };

/** One answer, the envelope, and the end of the connection. */
async function expectRejected(bytes: string | Buffer, envelope: { code: number }): Promise<void> {
  const [answer, ...more] = await attack(service, bytes);
  expect(more).toEqual([]);
  expect(answer?.status).toBe(envelope.code);
  expect(answer?.headers.get('connection')).toBe('close');
  expect(answer?.envelope()).toMatchObject({ ...envelope, retryable: false });
}
const expectMalformed = (bytes: string | Buffer) => expectRejected(bytes, MALFORMED);

describe('the length of a body has one reading or none', () => {
  const FRAMING: readonly [string, string[]][] = [
    ['Content-Length and Transfer-Encoding', [LENGTH, TE]],
    ['Transfer-Encoding and Content-Length', [TE, LENGTH]],
    ['two Content-Lengths that differ', [LENGTH, 'Content-Length: 3']],
    ['one Content-Length twice', [LENGTH, LENGTH]],
    ['a list of Content-Lengths', [`${LENGTH}, ${BODY.length}`]],
    ['a space before the colon', ['Transfer-Encoding : chunked']],
    ['a tab before the colon', ['Transfer-Encoding\t: chunked']],
    ['a folded line', ['Transfer-Encoding:\r\n chunked']],
    ['two codings in two lines', [TE, 'Transfer-Encoding: identity']],
  ];
  test.each(FRAMING)('%s', async (_what, framing) => {
    await expectMalformed(hostile({ framing, sent: chunked(BODY) }) + hidden());
  });

  const LENGTHS = ['+5', '-5', '0x5', '5 5', '1e1', '5.0', '', '٥', '99999999999999999999'];
  test.each(LENGTHS)('Content-Length: %s', async (length) => {
    await expectMalformed(hostile({ framing: [`Content-Length: ${length}`] }) + hidden());
  });

  const CODINGS = [
    'chunked, identity',
    'identity',
    'xchunked',
    '"chunked"',
    'chunked\x0b',
    'chunked, chunked',
    'gzip, chunked',
    'gzip',
    '',
  ];
  test.each(CODINGS)('Transfer-Encoding: %j', async (coding) => {
    const framing = [`Transfer-Encoding: ${coding}`];
    await expectMalformed(hostile({ framing, sent: chunked(BODY) }) + hidden());
  });

  test('an unknown coding does not make what follows the head a request', async () => {
    const framing = ['Transfer-Encoding: '];
    await expectMalformed(hostile({ framing, sent: '' }) + hidden() + hidden());
  });

  const SENT: readonly [string, (body: string) => string][] = [
    ['a size beyond 64 bits', (body) => `10000000000000005\r\n${body}\r\n0\r\n\r\n`],
    ['a negative size', (body) => `-5\r\n${body}\r\n0\r\n\r\n`],
    ['a size in another form', (body) => `0x${chunked(body)}`],
    ['a size that is too small', (body) => `5\r\n${body}\r\n0\r\n\r\n`],
    ['lines that end in LF alone', (body) => chunked(body).replace(/\r\n/g, '\n')],
    ['an extension of 20 KiB', (body) => chunked(body, `;a=${'x'.repeat(20_480)}`)],
  ];
  test.each(SENT)('chunks with %s', async (_what, sent) => {
    await expectMalformed(hostile({ framing: [TE], sent: sent(BODY) }) + hidden());
  });

  test('chunks with a trailer of 20 KiB', async () => {
    const sent = chunked(BODY).replace(/\r\n$/, `T: ${'x'.repeat(20_480)}`);
    await expectRejected(hostile({ framing: [TE], sent }) + hidden(), TOO_LARGE);
  });
});

test('a signature that comes as a trailer is none', async () => {
  const { clientId, secret } = service;
  const [client = '', timestamp = '', signature] = authLines({ clientId, secret, body: BODY });
  const sent = chunked(BODY).replace(/\r\n$/, `${signature}\r\n\r\n`);
  const auth = [client, timestamp];
  const framing = [TE, 'Trailer: X-Signature'];
  const [answer] = await attack(service, hostile({ auth, framing, sent }), 1);
  expect(answer?.envelope()).toMatchObject({ code: 401, reason: 'HMAC_HEADERS_MISSING' });
});

describe('a second request that is hidden in the body of the first', () => {
  test.each([
    ['of a push', 'POST', '/api/open/matters/upsert', 400],
    ['of a path that is not there', 'POST', '/nowhere', 404],
    ['of a method that is not there', 'PUT', '/api/open/matters/upsert', 405],
    ['of a health check', 'GET', '/healthz', 200],
  ])('%s is not executed', async (_where, method, target, status) => {
    const answers = await attack(service, hostile({ method, target, body: hidden() }), 1);
    expect(answers.map((answer) => answer.status)).toEqual([status]);
  });

  test('behind a body that is longer than it was said is not a body any more', async () => {
    const bytes = hostile({ framing: ['Content-Length: 0'], sent: `X${hidden()}` });
    const answers = await attack(service, bytes);
    expect(answers.map(({ status }) => status)).toEqual([401, 400]);
  });
});

describe('a head that is none', () => {
  const HEADERS: readonly [string, string][] = [
    ['a CR in a value', 'X-Foo: a\rb'],
    ['a NUL in a value', 'X-Foo: a\0b'],
    ['a NUL in a name', 'X-F\0o: a'],
    ['a folded value', 'X-Foo: a\r\n X-Signature: b'],
    ['a line without colon', 'X-Foo'],
  ];
  test.each(HEADERS)('%s', (_what, header) => expectMalformed(hostile({ headers: [header] })));

  test.each<[string, Partial<RawPush>]>([
    ['a header of 20 KiB', { headers: [`X-Foo: ${'a'.repeat(20_480)}`] }],
    ['a target of 16 KiB', { target: `/${'x'.repeat(16_384)}` }],
  ])('%s', (_what, changes) => expectRejected(hostile(changes), TOO_LARGE));

  test.each<[string, Partial<RawPush>]>([
    ['no Host', { host: [] }],
    ['two Hosts', { host: ['Host: a', 'Host: b'] }],
    ['HTTP/0.9', { version: 'HTTP/0.9' }],
    ['HTTP/1.2', { version: 'HTTP/1.2' }],
    ['HTTP/2.0', { version: 'HTTP/2.0' }],
    ['no version', { version: '' }],
    ['HTTP/1.0 with chunks', { version: 'HTTP/1.0', framing: [TE], sent: chunked(BODY) }],
    ['an empty target', { target: '' }],
    ['a NUL in the target', { target: '/api/open/matters/upsert\0' }],
    ['a space in the target', { target: '/api/open /matters/upsert' }],
    ['a target that is no path', { target: 'api/open/matters/upsert' }],
    ['a query without path', { target: '?a=b' }],
    ['a fragment', { target: '/api/open/matters/upsert#x' }],
    ['a URL without path', { target: 'http://host' }],
    ['another scheme', { target: 'ftp://host/api/open/matters/upsert' }],
    ['a method in lower case', { method: 'post' }],
    ['a method that nobody knows', { method: 'FOO' }],
  ])('%s', (_what, changes) => expectMalformed(hostile(changes) + hidden()));

  test('line ends of LF alone', () => expectMalformed(hostile().replace(/\r\n/g, '\n')));
  test('one line end of LF alone', () =>
    expectMalformed(hostile().replace('Host: test\r\n', 'Host: test\n')));

  test('2,000 headers are read to the last: a double behind them shows', async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => `a:${n % 10}`);
    const answers = await attack(service, hostile({ headers: [...many, 'X-Signature: a'] }), 1);
    expect(answers[0]?.envelope()).toMatchObject({ code: 401, reason: 'HMAC_HEADERS_MISSING' });
  });
});

describe('what is not HTTP/1.1 at all', () => {
  const HELLO = `1603010200010001fc0303${'ab'.repeat(300)}`;
  const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0';
  test.each<[string, string | Buffer]>([
    ['garbage', 'asdf\0\x01\x02 garbage\r\n\r\n'],
    ['a TLS ClientHello', Buffer.from(HELLO, 'hex')],
    ['the preface of HTTP/2', PREFACE],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'],
  ])('%s', (_what, bytes) => expectMalformed(bytes));
});
