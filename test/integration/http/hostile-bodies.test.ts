/** Bytes that are not what they should be: encodings, sizes, characters. Rejected, without any harm. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { type Hostile, harmless, rejected, send } from '../../support/hostile-guard';
import type { SharedService } from '../../support/service';
import { sharedService } from '../../support/shared-service';

/** BODY_LIMIT as it is by default. */
const LIMIT = 1024 * 1024;

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
  await service.push('upsert', { matterType: 'TODO', externalId: 'KEPT', title: 'as it was' });
});
afterAll(() => service.stop());

/** Would conclude the matter that is there. */
const TEXT = '{"externalId":"KEPT","bizStatus":"DONE"}';
const QUERY = { path: 'matters/get', body: '{"externalIds":["KEPT"]}' };
const encoded =
  (...values: string[]): Hostile['headers'] =>
  (signed) => [...signed, ...values.map((value) => ['Content-Encoding', value] as const)];

describe('Content-Encoding', () => {
  test.each<[string, Buffer | string, string[]]>([
    ['gzip', gzipSync(TEXT), ['gzip']],
    ['x-gzip', gzipSync(TEXT), ['x-gzip']],
    ['br', brotliCompressSync(TEXT), ['br']],
    ['deflate', deflateSync(TEXT), ['deflate']],
    ['deflate without its head', deflateRawSync(TEXT), ['deflate']],
    ['gzip in upper case', gzipSync(TEXT), ['GZIP']],
    ['gzip that says so of a plain body', TEXT, ['gzip']],
    ['gzip, then identity', gzipSync(TEXT), ['gzip, identity']],
    ['identity, then gzip', gzipSync(TEXT), ['identity, gzip']],
    ['gzip and identity in two headers', gzipSync(TEXT), ['identity', 'gzip']],
    ['a bomb of 16 MiB', gzipSync(Buffer.alloc(16 * 1024 * 1024)), ['gzip']],
    ['zstd', TEXT, ['zstd']],
    ['aes128gcm', TEXT, ['aes128gcm']],
    ['a name that nobody knows', TEXT, ['wonders']],
    ['__proto__', TEXT, ['__proto__']],
    ['nothing', TEXT, ['']],
  ])('%s is not supported, also not where the signature is right', async (_what, body, values) => {
    await rejected(service, { body, headers: encoded(...values) }, 'UNSUPPORTED_ENCODING');
    await rejected(
      service,
      { ...QUERY, body, headers: encoded(...values) },
      'UNSUPPORTED_ENCODING',
    );
  });

  test.each([[['identity']], [['IDENTITY']], [[' identity ']], [['identity', 'identity']]])(
    '%j says that the body is as it is, and is taken',
    async (values) => {
      const heard = await harmless(service, { ...QUERY, headers: encoded(...values) });
      expect(heard).toMatchObject({ code: 0, data: { missing: [] } });
    },
  );
});

describe('the size of a body', () => {
  /** A push that nothing is there for, of so many bytes. */
  const sized = (bytes: number, id = 'NONE') => {
    const text = `{"externalId":"${id}","bizStatus":"DONE","pad":""}`;
    return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`);
  };

  test.each([false, true])('the limit itself is taken (in chunks: %s)', async (chunked) => {
    const heard = await harmless(service, { body: sized(LIMIT), chunked });
    expect(heard).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
  });

  test.each([
    ['a byte more', LIMIT + 1],
    ['5 MiB', 5 * 1024 * 1024],
  ])('%s is too large, with a length and in chunks', async (_what, size) => {
    const body = sized(size, 'KEPT');
    await rejected(service, { body }, 'BODY_TOO_LARGE');
    await rejected(service, { body, chunked: true }, 'BODY_TOO_LARGE');
  });

  test('too large comes before encoding, headers and signature', async () => {
    const body = sized(LIMIT + 1);
    await rejected(service, { body, headers: encoded('gzip') }, 'BODY_TOO_LARGE');
    await rejected(service, { body, headers: () => [] }, 'BODY_TOO_LARGE');
    await rejected(
      service,
      { body: TEXT, headers: () => [['Content-Encoding', 'gzip']] },
      'UNSUPPORTED_ENCODING',
    );
    await rejected(service, { body, as: { secret: 'not it' }, chunked: true }, 'BODY_TOO_LARGE');
  });

  test('a query has its own limit, to the byte', async () => {
    const body = (bytes: number) => `{"externalIds":["KEPT"]}`.padEnd(bytes);
    const most = await harmless(service, { ...QUERY, body: body(1024 * 1024) });
    expect(most).toMatchObject({ code: 0 });
    await rejected(service, { ...QUERY, body: body(1024 * 1024 + 1) }, 'BODY_TOO_LARGE');
  });

  describe.each(['matters/batch', 'verify/batch'])('%s has its own', (path) => {
    const MOST = 8 * 1024 * 1024;
    /** A line of 8 KiB, which nothing is there for. */
    const line = JSON.stringify({
      op: 'status',
      body: { externalId: 'NONE', bizStatus: 'DONE', bizType: 'x'.repeat(8_000) },
    });
    const lines = (count: number) => Array.from({ length: count }, () => line).join('\n');
    const FULL = lines(1_000).padEnd(MOST);

    test.each([false, true])(
      'both limits themselves are taken (in chunks: %s)',
      async (chunked) => {
        expect(FULL).toHaveLength(MOST);
        const heard = await harmless(service, { path, body: FULL, chunked });
        expect(heard).toMatchObject({ data: { total: 1_000 } });
      },
    );

    test.each<[string, string, 'BODY_TOO_LARGE' | 'TOO_MANY_LINES']>([
      ['a byte more', `${FULL} `, 'BODY_TOO_LARGE'],
      ['a line more', '{}\n'.repeat(1_001), 'TOO_MANY_LINES'],
      ['10,001 line breaks', '\n'.repeat(10_001), 'TOO_MANY_LINES'],
    ])('%s is too much, with a length and in chunks', async (_what, body, reason) => {
      await rejected(service, { path, body }, reason);
      await rejected(service, { path, body, chunked: true }, reason);
    });

    test('a line that is not UTF-8 is named', async () => {
      const body = Buffer.concat([Buffer.from(`${line}\n{"a":"`), Buffer.from([0xc4, 0xe3, 0x0a])]);
      const heard = await rejected(service, { path, body }, 'INVALID_ENCODING');
      expect(heard).toMatchObject({ errors: [{ field: '(body)', message: '第 2 行不是 UTF-8' }] });
    });
  });

  test.each(['', ' ', '\0', '\n\n\n'])('a body of %j is no JSON object', async (body) => {
    await rejected(service, { body }, 'INVALID_JSON');
    await rejected(service, { ...QUERY, body, chunked: true }, 'INVALID_JSON');
  });
});

describe('bytes that are no UTF-8', () => {
  const around = (hex: string) =>
    Buffer.concat([
      Buffer.from('{"externalId":"KEPT","bizStatus":"DONE","x":"'),
      Buffer.from(hex, 'hex'),
      Buffer.from('"}'),
    ]);
  const asKey = (hex: string) =>
    Buffer.concat([
      Buffer.from('{"externalId":"KEPT","'),
      Buffer.from(hex, 'hex'),
      Buffer.from('":1}'),
    ]);

  test.each([
    ['a lone continuation byte', '80'],
    ['an overlong slash of two bytes', 'c0af'],
    ['an overlong slash of three bytes', 'e080af'],
    ['an overlong slash of four bytes', 'f08080af'],
    ['an overlong NUL', 'c080'],
    ['a truncated sequence of two bytes', 'c3'],
    ['a truncated sequence of three bytes', 'e8af'],
    ['a truncated sequence of four bytes', 'f09f9a'],
    ['a high surrogate', 'eda080'],
    ['a low surrogate', 'edb080'],
    ['a pair of surrogates (CESU-8)', 'eda0bdedba80'],
    ['a code point beyond Unicode', 'f4908080'],
    ['a sequence of five bytes', 'f888808080'],
    ['bytes that never occur', 'feff'],
    ['GBK', 'c7ebbcd9'],
  ])('%s is rejected, never replaced', async (_what, hex) => {
    await rejected(service, { body: around(hex) }, 'INVALID_ENCODING');
    await rejected(service, { body: asKey(hex) }, 'INVALID_ENCODING');
    await rejected(service, { ...QUERY, body: around(hex) }, 'INVALID_ENCODING');
    const atTheEnd = Buffer.concat([Buffer.from(TEXT), Buffer.from(hex, 'hex')]);
    await rejected(service, { body: atTheEnd }, 'INVALID_ENCODING');
  });

  test('nor in a list of ids', async () => {
    const body = Buffer.concat([
      Buffer.from('"KEPT"\n"'),
      Buffer.from('eda080', 'hex'),
      Buffer.from('"'),
    ]);
    await rejected(service, { path: 'matters/orphans', body }, 'INVALID_ENCODING');
  });

  test.each<[string, Buffer, 'INVALID_JSON' | 'INVALID_ENCODING']>([
    ['a byte order mark', Buffer.from(`\ufeff${TEXT}`), 'INVALID_JSON'],
    ['UTF-16, little end first', Buffer.from(TEXT, 'utf16le'), 'INVALID_JSON'],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), 'INVALID_ENCODING'],
    ['a NUL between the tokens', Buffer.from(TEXT.replace(',', ',\0')), 'INVALID_JSON'],
    ['a NUL in a text', Buffer.from(TEXT.replace('KEPT', 'KEPT\0')), 'INVALID_JSON'],
    ['a NUL behind the end', Buffer.from(`${TEXT}\0`), 'INVALID_JSON'],
    ['a line feed in a text', Buffer.from(TEXT.replace('KEPT', 'KE\nPT')), 'INVALID_JSON'],
  ])('%s is rejected, not dropped', async (_what, body, reason) => {
    await rejected(service, { body }, reason);
    await rejected(service, { ...QUERY, body }, reason);
  });
});

describe('characters that cannot be kept', () => {
  test.each(['\\ud800', '\\udc00', '\\ud83d x', '\\ude80\\ud83d'])(
    'a lone surrogate (%s) is rejected where it is a value, ignored where it is an unknown key',
    async (escaped) => {
      for (const field of ['externalId', 'externalStatusCode']) {
        const body = `{"externalId":"KEPT","bizStatus":"DONE","${field}":"a${escaped}"}`;
        const heard = await rejected(service, { body }, 'VALIDATION_FAILED');
        expect(heard.errors?.map((error) => error.field)).toEqual([field]);
      }
      const key = `{"externalId":"NONE","a${escaped}":1,"__proto__":{"${escaped}":2}}`;
      expect(await harmless(service, { body: key })).toMatchObject({ code: 404 });
    },
  );

  test.each(['\\ud800', '\\u0000', '\\u0007'])(
    'a query for what nothing can hold finds nothing: %s',
    async (escaped) => {
      // Written to the store, a lone surrogate would become U+FFFD: the id of another matter.
      const body = { matterType: 'TODO', externalId: 'Q\ufffd', title: 'replaced' };
      await send(service, { path: 'matters/upsert', body });
      const found = await send(service, LOG('"externalId":"Q\ufffd"'));
      expect(found.data).toMatchObject({ entries: [{ externalId: 'Q\ufffd' }] });
      for (const field of ['externalId', 'idempotencyKey', 'operation', 'outcome', 'reason']) {
        const none = await harmless(service, LOG(`"${field}":"Q${escaped}"`));
        expect([field, none.data]).toMatchObject([field, { entries: [], nextCursor: null }]);
      }
      const got = { path: 'matters/get', body: `{"externalIds":["Q${escaped}"]}` };
      expect((await rejected(service, got, 'VALIDATION_FAILED')).errors).toHaveLength(1);
      const digest = { path: 'matters/digest', body: `{"bizType":"Q${escaped}"}` };
      expect((await rejected(service, digest, 'VALIDATION_FAILED')).errors).toHaveLength(1);
    },
  );
  const LOG = (filter: string) => ({ path: 'push-logs/query', body: `{${filter},"limit":1}` });

  test.each(['\\u0000', '\\u0007', '\\u007f'])('%s in a text is rejected', async (escaped) => {
    const body = `{"externalId":"KEPT","bizStatus":"DONE","externalStatusLabel":"a${escaped}"}`;
    const heard = await rejected(service, { body }, 'VALIDATION_FAILED');
    expect(heard.errors?.map((error) => error.field)).toEqual(['externalStatusLabel']);
  });
});
