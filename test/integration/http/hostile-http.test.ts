/** Requests that are HTTP, and not what the interface expects: methods, targets, rare features. */
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { attack, expectUnharmed } from '../../support/attack';
import { chunked, connectRaw, type RawPush, rawPush } from '../../support/raw-http';
import { type Service, startService } from '../../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { SIGNATURE_GRACE: '0' } });
});
afterAll(() => service.stop());

const UPSERT = '/api/open/matters/upsert';
const bodyOf = (externalId: string, title = 'x') =>
  JSON.stringify({ matterType: 'TODO', externalId, title });

/** A push that is signed and right but for `changes`. */
function pushOf(changes: Partial<RawPush> = {}): string {
  const { clientId, secret } = service;
  return rawPush({ clientId, secret, body: bodyOf('HOSTILE'), ...changes });
}

async function answersTo(bytes: string, count = 1) {
  const caller = await connectRaw(service.urlOf());
  caller.send(bytes);
  const answers = await caller.untilAnswers(count);
  caller.socket.destroy();
  return answers;
}

const NOT_ALLOWED = { code: 405, reason: 'METHOD_NOT_ALLOWED', data: null, retryable: false };
const NOT_FOUND = { code: 404, reason: 'PATH_NOT_FOUND', data: null, retryable: false };

describe('methods', () => {
  const METHODS = ['TRACE', 'OPTIONS', 'GET', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'PURGE'];
  test.each(METHODS)('%s pushes nothing, and the answer says what does', async (method) => {
    const [answer] = await attack(service, pushOf({ method }), 1);
    expect(answer?.status).toBe(405);
    expect(answer?.headers.get('allow')).toBe('POST');
    expect(answer?.envelope()).toMatchObject(NOT_ALLOWED);
  });

  test('HEAD pushes nothing, and its answer has no body', async () => {
    const caller = await connectRaw(service.urlOf());
    caller.send(pushOf({ method: 'HEAD', headers: ['Connection: close'] }));
    await caller.closed;
    expect(caller.received()).toMatch(/^HTTP\/1.1 405 .*Allow: POST.*\r\n\r\n$/s);
    expect(caller.received()).not.toContain('{');
    await expectUnharmed(service);
  });

  test.each(['TRACE', 'OPTIONS', 'PUT'])('%s of nothing is not found', async (method) => {
    const [answer] = await attack(service, pushOf({ method, target: '/nowhere' }), 1);
    expect(answer?.envelope()).toMatchObject(NOT_FOUND);
    expect(answer?.headers.has('allow')).toBe(false);
  });

  test('TRACE gives no header back', async () => {
    const headers = ['Cookie: session=secret'];
    const [answer] = await attack(service, pushOf({ method: 'TRACE', headers }), 1);
    expect(answer?.body).not.toContain('session=secret');
  });
});

describe('a path is what it is, letter for letter', () => {
  test.each([
    `/${UPSERT}`,
    '/api/open/../open/matters/upsert',
    '/api/open/%2e%2e/open/matters/upsert',
    '/api/open/./matters/upsert',
    '/api/open//matters/upsert',
    '/api/open/matters%2Fupsert',
    '/api/open/matters%252Fupsert',
    '/api/open/matters/%75psert',
    '/api/open\\matters\\upsert',
    `${UPSERT}/`,
    `${UPSERT}%00`,
    `${UPSERT}%20`,
    `${UPSERT}%zz`,
    `${UPSERT};a=b`,
    '/API/open/matters/upsert',
    '/api/open/matters/UPSERT',
    '/api/open/%zz/upsert',
    '/%',
    '//',
    '//evil.example/',
    '/__proto__',
    '*',
    `/${'x'.repeat(15_000)}`,
    'http://h/%zz',
  ])('%s is not there', async (target) => {
    const [answer] = await attack(service, pushOf({ target }), 1);
    expect(answer?.status).toBe(404);
    expect(answer?.envelope()).toMatchObject(NOT_FOUND);
  });

  // A proxy may send the whole URL; whose it is does not matter here, however odd it looks.
  test.each([
    'http://other.example',
    'http://u%zz:p@h',
    'http://[',
    'HTTP://a:b:c',
    'https://h:99',
  ])('%s before it does not matter', async (origin) => {
    const [answer] = await answersTo(pushOf({ target: origin + UPSERT }));
    expect(answer?.envelope()).toMatchObject({ code: 0 });
    await expectUnharmed(service);
  });

  test('a query is no other path: the guard against captured signatures does not look at it', async () => {
    const timestamp = String(Math.floor(Date.now() / 1000) - 7);
    const body = bodyOf('QUERY');
    const send = async (target: string) =>
      (await answersTo(pushOf({ target, timestamp, body })))[0]?.envelope();
    expect(await send(`${UPSERT}?a=1`)).toMatchObject({ code: 0, data: { outcome: 'CREATED' } });
    for (const query of ['', '?a=2', '?', '?%zz', '??/api/open/matters/delete']) {
      expect(await send(UPSERT + query)).toMatchObject({ code: 0 });
    }
    for (const query of ['', '?a=1', `?${UPSERT}`]) {
      expect(await send(`/api/open/matters/delete${query}`)).toMatchObject({
        code: 401,
        reason: 'SIGNATURE_REUSED',
      });
    }
    const absolute = await send('http://x/api/open/matters/delete');
    expect(absolute).toMatchObject({ reason: 'SIGNATURE_REUSED' });
  });
});

describe('what is rare and allowed works', () => {
  const body = bodyOf('RARE');
  test.each<[string, Partial<RawPush>]>([
    ['HTTP/1.0 without Host', { version: 'HTTP/1.0', host: [] }],
    ['chunks', { framing: ['Transfer-Encoding: chunked'], sent: chunked(body) }],
    ['CHUNKED', { framing: ['Transfer-Encoding:\tCHUNKED'], sent: chunked(body) }],
    ['an extension', { framing: ['Transfer-Encoding: chunked'], sent: chunked(body, ';a="b"') }],
    ['an expectation that nobody knows', { headers: ['Expect: nonsense'] }],
    ['an upgrade to websocket', { headers: ['Connection: Upgrade', 'Upgrade: websocket'] }],
    ['an upgrade to h2c', { headers: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'] }],
  ])('%s', async (_what, changes) => {
    const [answer] = await answersTo(pushOf({ body, ...changes }));
    expect(answer?.status).toBe(200);
    expect(answer?.envelope()).toMatchObject({ code: 0 });
    await expectUnharmed(service);
  });

  test('Expect: 100-continue: the body is asked for, then taken', async () => {
    const caller = await connectRaw(service.urlOf());
    caller.send(pushOf({ body, headers: ['Expect: 100-continue'], sent: '' }));
    expect((await caller.untilAnswers(1))[0]?.status).toBe(100);
    caller.send(body);
    expect((await caller.untilAnswers(2))[1]?.envelope()).toMatchObject({ code: 0 });
    caller.socket.destroy();
  });
});

describe('pushes sent in one go on one connection', () => {
  const COUNT = 50;
  const titles = Array.from({ length: COUNT }, (_, n) => `title ${n}`);

  test('of one key are answered and applied in their order, once each', async () => {
    const externalId = 'PIPELINED';
    const pushes = titles.map((title) => pushOf({ body: bodyOf(externalId, title) }));
    const answers = await answersTo(pushes.join(''), COUNT);
    expect(answers).toHaveLength(COUNT);
    expect(new Set(answers.map((answer) => answer.envelope().code))).toEqual(new Set([0]));
    const entries = await entryModel(service.db).find({ externalId }).sort({ _id: 1 }).lean();
    const ids = answers.map((answer) => answer.envelope().requestId);
    expect(entries.map(({ _id }) => String(_id))).toEqual(ids);
    const revisions = entries.map(({ revision }) => Number(revision));
    expect(revisions).toEqual([...revisions].sort((a, b) => a - b));
    expect(entries.map(({ result }) => result)).toEqual(['CREATED', ...Array(49).fill('UPDATED')]);
    const matter = await matterModel(service.db).findOne({ externalId }).lean();
    expect(matter).toMatchObject({ title: titles.at(-1), revision: revisions.at(-1) });
  });

  test.each<[string, () => string, number, string]>([
    ['rejected', () => pushOf({ auth: [] }), 401, 'HMAC_HEADERS_MISSING'],
    ['to nowhere', () => pushOf({ target: '/nowhere' }), 404, 'PATH_NOT_FOUND'],
    ['of another method', () => pushOf({ method: 'PUT' }), 405, 'METHOD_NOT_ALLOWED'],
  ])('one %s among them shifts no answer', async (_what, bad, status, reason) => {
    const of = (n: number) => pushOf({ body: bodyOf(`MIXED-${n}`) });
    const answers = await answersTo([of(0), of(1), bad(), of(2), of(3)].join(''), 5);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, status, 200, 200]);
    const envelopes = answers.map((answer) => answer.envelope());
    expect(envelopes[2]).toMatchObject({ reason });
    expect(envelopes.map(({ data }) => data?.externalId)).toEqual([
      'MIXED-0',
      'MIXED-1',
      undefined,
      'MIXED-2',
      'MIXED-3',
    ]);
  });

  test.each([
    ['garbage', () => 'GARBAGE\r\n\r\n'],
    ['a length that is none', () => pushOf({ framing: ['Content-Length: +5'] })],
    ['two Hosts', () => pushOf({ host: ['Host: a', 'Host: b'] })],
    ['a broken chunk', () => pushOf({ framing: ['Transfer-Encoding: chunked'], sent: 'zz\r\n' })],
    ['CONNECT', () => 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
  ])('%s behind them is answered last, and what follows it is not done', async (_what, bad) => {
    const of = (n: number) => pushOf({ body: bodyOf(`BEFORE-${n}`) });
    const after = pushOf({ body: bodyOf('AFTER') });
    const answers = await answersTo([of(0), of(1), bad(), after].join(''), 3);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 400]);
    expect(answers.map((answer) => answer.envelope().data?.externalId)).toEqual([
      'BEFORE-0',
      'BEFORE-1',
      undefined,
    ]);
    expect(answers[2]?.envelope()).toMatchObject({ reason: 'MALFORMED_REQUEST' });
    await expectUnharmed(service);
    expect(await entryModel(service.db).countDocuments({ externalId: 'AFTER' })).toBe(0);
  });
});
