/** Forged and borrowed signatures, and secrets that are none: rejected as decided, without any harm. */
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { type Hostile, harmless, rejected } from '../../support/hostile-guard';
import { epochSeconds, post, signedHeaders } from '../../support/hostile-post';
import { type Service, startService } from '../../support/service';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { SIGNATURE_GRACE: '0' } });
  await storeClients();
  await service.push('upsert', { matterType: 'TODO', externalId: 'KEPT', title: 'as it was' });
});
afterAll(() => service.stop());

/** Would conclude the matter that is there. */
const BODY = { externalId: 'KEPT', bizStatus: 'DONE' };
/** Changes nothing even where it is well signed. */
const NONE = { externalId: 'NONE' };

/** The signed headers with another signature, made from the right one. */
const bent =
  (bend: (signature: string) => string): Hostile['headers'] =>
  (signed) =>
    signed.map(([name, value]) => [name, name === 'X-Signature' ? bend(value) : value]);

describe('X-Signature', () => {
  test.each<[string, (signature: string) => string]>([
    ['63 hex digits', (right) => right.slice(1)],
    ['65 hex digits', (right) => `${right}0`],
    ['64 hex digits of nothing', () => 'ab'.repeat(32)],
    ['one digit changed', (right) => right.replace(/.$/, (d) => (d === '0' ? '1' : '0'))],
    ['no hex digit at its end', (right) => right.replace(/.$/, 'g')],
    ['junk behind it', (right) => `${right}zz`],
    ['a second one behind it', (right) => `${right}, ${right}`],
    ['0x in front', (right) => `0x${right}`],
    ['sha256= in front', (right) => `sha256=${right}`],
    ['v1= in front', (right) => `v1=${right}`],
    ['quotes around it', (right) => `"${right}"`],
    ['base64 of the right digest', (right) => Buffer.from(right, 'hex').toString('base64')],
    ['base64url of the right digest', (right) => Buffer.from(right, 'hex').toString('base64url')],
    ['backwards', (right) => [...right].reverse().join('')],
    ['64 bytes of no ASCII', () => '\xff'.repeat(64)],
    ['8,000 digits', (right) => right.repeat(125)],
  ])('%s is no match', async (_what, bend) => {
    await rejected(service, { body: BODY, headers: bent(bend) }, 'SIGNATURE_MISMATCH');
  });

  test('an empty one is missing', async () => {
    await rejected(service, { body: BODY, headers: bent(() => '') }, 'HMAC_HEADERS_MISSING');
  });

  test.each<[string, (signature: string) => string]>([
    ['upper case', (right) => right.toUpperCase()],
    ['mixed case', (right) => right.replace(/[a-f]/, (digit) => digit.toUpperCase())],
    ['blanks around it, which HTTP cuts off', (right) => ` ${right}\t`],
  ])('%s is as good', async (_what, bend) => {
    const heard = await harmless(service, { body: NONE, headers: bent(bend) });
    expect(heard).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
  });
});

describe('a signature that was captured', () => {
  const OTHERS = [
    'matters/upsert',
    'matters/reopen',
    'matters/delete',
    'push-logs/query',
    'matters/get',
    'matters/query',
    'matters/diff',
    'matters/digest',
    'matters/orphans',
    'verify',
    'matters/batch',
    'verify/batch',
  ];

  test('is good for the path that it was first used on alone', async () => {
    // The body is good for every operation, and the signature is that of each.
    const body = { ...NONE, matterType: 'TODO', title: 'moved', n: 'captured' };
    const timestamp = String(epochSeconds() - 3);
    const first = await harmless(service, { path: 'matters/status', body, as: { timestamp } });
    expect(first).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
    for (const path of OTHERS) {
      const moved = await harmless(service, { path, body, as: { timestamp } });
      const told = { code: 401, reason: 'SIGNATURE_REUSED', retryable: true, data: null };
      expect([path, moved]).toEqual([path, expect.objectContaining(told)]);
    }
    const again = await harmless(service, { path: 'matters/status', body, as: { timestamp } });
    expect(again).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
  });

  test.each<[string, (signature: string) => string, string]>([
    ['in upper case', (right) => right.toUpperCase(), 'matters/delete'],
    ['with a query behind the path', (right) => right, 'matters/delete?externalId=KEPT'],
  ])('is the same %s', async (what, bend, path) => {
    const timestamp = String(epochSeconds() - 4);
    const about = { body: { externalId: 'KEPT', n: what }, as: { timestamp } };
    // With its own path it would be answered from the matter; stale, it changes nothing.
    await harmless(service, { ...about, path: 'matters/get' });
    const moved = await harmless(service, { ...about, path, headers: bent(bend) });
    expect(moved).toMatchObject({ code: 401, reason: 'SIGNATURE_REUSED' });
  });

  test('with a query behind the path it is a retry on the same path, not a new request', async () => {
    const timestamp = String(epochSeconds() - 5);
    const about = { body: { ...NONE, n: 'retry' }, as: { timestamp } };
    await harmless(service, about);
    const again = await harmless(service, { ...about, path: 'matters/status?x=1' });
    expect(again).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
  });

  test('is not that of another client with the same secret', async () => {
    const body = { ...NONE, n: 'twin' };
    const as = { clientId: 'twin-a', secret: TWIN };
    const theirs: Hostile['headers'] = (signed) =>
      signed.map(([name, value]) => [name, name === 'X-Client-Id' ? 'twin-b' : value]);
    expect(await harmless(service, { body, as })).toMatchObject({ code: 404 });
    await rejected(service, { body, as, headers: theirs }, 'SIGNATURE_MISMATCH');
  });
});

const TWIN = 'a secret that two clients share';
const NO_SECRET = ['empty', 'no-seal', 'moved', 'gone', 'cut', 'blank', 'null', 'number', 'object'];

/** Past the model and the tool, as an operator's mishap may leave them. */
async function storeClients(): Promise<void> {
  const ring = createKeyRing([String(service.env.SECRET_KEYS)]);
  const seals: Record<string, unknown> = {
    'twin-a': ring.seal(TWIN, 'twin-a'),
    'twin-b': ring.seal(TWIN, 'twin-b'),
    'one-byte': ring.seal('x', 'one-byte'),
    long: ring.seal('y'.repeat(10_000), 'long'),
    empty: ring.seal('', 'empty'),
    moved: ring.seal('z', service.clientId),
    gone: 'gone.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA.AAAA',
    cut: ring.seal('z', 'cut').slice(0, 24),
    'no-seal': 'not a seal',
    blank: '',
    null: null,
    number: 7,
    object: { $ne: null },
  };
  const createdAt = new Date();
  const clients = Object.entries(seals).map(([_id, sealed]) => ({
    ...{ _id, type: 'CONFIDENTIAL', systemCode: 'TEST', enabled: true, createdAt },
    secrets: [{ id: 's', sealed, createdAt, expiresAt: null }],
  }));
  await service.db.collection<{ _id: string }>('clients').insertMany(clients);
}

describe('a stored secret', () => {
  test.each(NO_SECRET)(
    'that is none (%s) signs nothing: the client has no usable one',
    async (clientId) => {
      // Whoever guesses that the secret is empty must not get in.
      for (const secret of ['', 'z', 'undefined', 'null']) {
        await rejected(service, { body: BODY, as: { clientId, secret } }, 'NO_USABLE_SECRET');
      }
    },
  );

  test.each([
    ['one-byte', 'x'],
    ['long', 'y'.repeat(10_000)],
  ])(
    'of an odd length (%s) signs like any other, and a wrong one does not',
    async (clientId, secret) => {
      const right = await harmless(service, { body: NONE, as: { clientId, secret } });
      expect(right).toMatchObject({ code: 404, reason: 'MATTER_NOT_FOUND' });
      for (const wrong of ['', `${secret}${secret}`, secret.slice(1)]) {
        await rejected(
          service,
          { body: BODY, as: { clientId, secret: wrong } },
          'SIGNATURE_MISMATCH',
        );
      }
    },
  );
});

test('a stranger and a wrong signature get the same bytes, but for request id and time', async () => {
  const url = `${service.urlOf()}/api/open/matters/status`;
  const bytes = Buffer.from(JSON.stringify(BODY));
  const ask = async (clientId: string, secret: string) => {
    const heard = await post(
      url,
      signedHeaders({ clientId, secret, timestamp: String(epochSeconds()) }, bytes),
      bytes,
    );
    const { date: _, ...headers } = heard.headers;
    const text = heard.text
      .replace(/"requestId":"[0-9a-f]{24}"/, '"requestId"')
      .replace(/"timestamp":"[^"]{24}"/, '"timestamp"');
    return { ...heard, headers, text };
  };
  const wrong = await ask(service.clientId, 'not it');
  expect(wrong.text).toBe(
    '{"code":401,"message":"HMAC 签名校验失败","data":null,"requestId","timestamp",' +
      '"reason":"SIGNATURE_MISMATCH","retryable":false,' +
      '"help":"/docs#reason-SIGNATURE_MISMATCH"}',
  );
  for (const stranger of ['stranger', 'x', '__proto__', 'tester ', 'TESTER', 'y'.repeat(1_000)]) {
    // Blanks around a header's value are cut off by HTTP, so that one is known, and wrong.
    expect(await ask(stranger, service.secret)).toEqual(wrong);
  }
});
