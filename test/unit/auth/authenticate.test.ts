/** Who may push: each check, its edges, and that the first failure answers (contract 3.2). */

import { authenticate, checkMayPush, createSignedBody } from '../../../src/auth/authenticate';
import { sign } from '../../../src/protocol/signature';
import type { KnownClient } from '../../../src/storage/directory';
import { aClient, NOW } from '../../support/builders';

const SECONDS = NOW / 1000;
const BODY = Buffer.from('{"externalId":"A-1","title":"请假"}');
const client = aClient({
  clientId: 'demo-oa',
  secrets: [
    { id: 'new', secret: 'new secret' },
    { id: 'old', secret: 'old secret' },
  ],
});

interface Attempt {
  readonly client?: KnownClient | undefined;
  readonly timestamp?: string;
  readonly secret?: string;
  readonly signature?: string;
  readonly now?: number;
}

/** @throws PushError where it is rejected */
async function attempt(over: Attempt = {}) {
  const { timestamp = String(SECONDS), secret = 'new secret', now = NOW } = over;
  const signature = over.signature ?? sign(secret, 'demo-oa', timestamp, BODY);
  const known = 'client' in over ? over.client : client;
  const headers = { clientId: 'demo-oa', timestamp, signature };
  const terms = { headers, clock: () => now };
  const found = await authenticate(async () => known, createSignedBody(headers, BODY), terms);
  if (found.error) throw found.error;
  return found.caller;
}

const rejection = (code: number, reason: string, message: string) =>
  expect.objectContaining({ code, reason, message, retryable: false });
const OUT_OF_WINDOW = rejection(401, 'TIMESTAMP_OUT_OF_WINDOW', 'X-Timestamp 超出允许时间窗');
const MISMATCH = rejection(401, 'SIGNATURE_MISMATCH', 'HMAC 签名校验失败');
const NO_SECRET = rejection(403, 'NO_USABLE_SECRET', 'Client 无可用 client_secret');
const DISABLED = rejection(403, 'CLIENT_DISABLED', 'Client 已停用');
const NO_SYSTEM = rejection(403, 'NO_SYSTEM_CODE', 'Client 未绑定 system_code');

test('a signed request tells client, system and secret', async () => {
  expect(await attempt()).toEqual({ clientId: 'demo-oa', systemCode: 'OA', secretId: 'new' });
});

test('a paused client is known all the same, and that it is paused', async () => {
  const paused = { since: new Date(NOW), reason: '月末结账' };
  expect(await attempt({ client: { ...client, paused } })).toMatchObject({
    clientId: 'demo-oa',
    paused,
  });
});

test('while rotating both secrets sign, and which one did is known', async () => {
  expect((await attempt({ secret: 'old secret' })).secretId).toBe('old');
  await expect(attempt({ secret: 'a third' })).rejects.toThrow(MISMATCH);
});

test.each([-300, -299, 0, 299, 300])('%i seconds off are within the window', async (off) => {
  expect((await attempt({ timestamp: String(SECONDS + off) })).clientId).toBe('demo-oa');
});

test.each([-301, 301, -86_400, 86_400])('%i seconds off are outside', async (off) => {
  await expect(attempt({ timestamp: String(SECONDS + off) })).rejects.toThrow(OUT_OF_WINDOW);
});

test.each([
  [-300, 999, true],
  [300, 999, true],
  [-301, 0, false],
  [301, 999, false],
])('%i s with the clock %i ms into its second: within is %s', async (off, millis, within) => {
  const push = attempt({ timestamp: String(SECONDS + off), now: NOW + millis });
  if (within) expect(await push).toMatchObject({ clientId: 'demo-oa' });
  else await expect(push).rejects.toThrow(OUT_OF_WINDOW);
});

test.each([
  ['empty', ''],
  ['letters', 'abc'],
  ['exponent', '1.7172e9'],
  ['1e9', '1e9'],
  ['hex', `0x${SECONDS.toString(16)}`],
  ['plus sign', `+${SECONDS}`],
  ['minus sign', `-${SECONDS}`],
  ['fraction', `${SECONDS}.0`],
  ['milliseconds', String(NOW)],
  ['13 digits of the right second', String(SECONDS).padStart(13, '0')],
  ['space before', ` ${SECONDS}`],
  ['space after', `${SECONDS} `],
  ['line feed after', `${SECONDS}\n`],
  ['full-width digits', '１７１７２００００００'],
  ['Infinity', 'Infinity'],
  ['twice, joined', `${SECONDS}, ${SECONDS}`],
])(
  'a timestamp is 1 to 12 plain digits: %s is rejected, however well signed',
  async (_, timestamp) => {
    await expect(attempt({ timestamp })).rejects.toThrow(OUT_OF_WINDOW);
  },
);

test('leading zeros are digits too, and signed as sent', async () => {
  expect((await attempt({ timestamp: `00${SECONDS}` })).clientId).toBe('demo-oa');
});

test.each([
  ['63 hex digits', 'a'.repeat(63)],
  ['65 hex digits', 'a'.repeat(65)],
  ['no hex', 'z'.repeat(64)],
  ['wrong', 'a'.repeat(64)],
  ['junk behind the right one', `${sign('new secret', 'demo-oa', String(SECONDS), BODY)}00`],
])('a signature that is %s does not match', async (_, signature) => {
  await expect(attempt({ signature })).rejects.toThrow(MISMATCH);
});

describe('query keys', () => {
  const terms = { mayPush: false, endsAt: NOW + 1 };
  const key = { id: 'key', secret: 'a query key', queryKey: terms };
  const withKey = { ...client, secrets: [...client.secrets, key] };
  const asked = { client: withKey, secret: 'a query key' };

  test('a key is known as one, and a secret is none', async () => {
    expect(await attempt(asked)).toMatchObject({ secretId: 'key', queryKey: terms });
    expect(await attempt({ client: withKey })).not.toHaveProperty('queryKey');
  });

  test('from the moment of its end it is an unknown secret, however old what is known of it', async () => {
    const over = { ...key, queryKey: { ...terms, endsAt: NOW } };
    await expect(attempt({ ...asked, client: { ...client, secrets: [over] } })).rejects.toThrow(
      NO_SECRET,
    );
    const beside = { ...client, secrets: [...client.secrets, over] };
    await expect(attempt({ ...asked, client: beside })).rejects.toThrow(MISMATCH);
  });

  test('a client without a secret of its own has none, whatever keys there are', async () => {
    const only = { ...client, secrets: [key] };
    await expect(attempt({ client: only, secret: 'wrong' })).rejects.toThrow(NO_SECRET);
    expect((await attempt({ ...asked, client: only })).secretId).toBe('key');
  });

  test('only what may push passes where something is pushed', () => {
    const rejected = rejection(403, 'SCOPE_NOT_ALLOWED', '密钥无推送权限');
    expect(() => checkMayPush({ queryKey: terms })).toThrow(rejected);
    expect(checkMayPush({ queryKey: { ...terms, mayPush: true } })).toBeUndefined();
    expect(checkMayPush({})).toBeUndefined();
  });
});

test('an upper-case signature is as good', async () => {
  const signature = sign('new secret', 'demo-oa', String(SECONDS), BODY).toUpperCase();
  expect((await attempt({ signature })).secretId).toBe('new');
});

test('an unknown client is answered like a wrong signature', async () => {
  await expect(attempt({ client: undefined })).rejects.toThrow(MISMATCH);
  // Whoever reads the source knows the stand-in secret; it must open nothing.
  const secret = 'a secret that nobody was ever given';
  await expect(attempt({ client: undefined, secret })).rejects.toThrow(MISMATCH);
  await expect(attempt({ client: { ...client, secrets: [] }, secret })).rejects.toThrow(NO_SECRET);
});

test.each([
  ['PUBLIC', { ...client, type: 'PUBLIC' as const }, NO_SECRET],
  ['without a secret', { ...client, secrets: [] }, NO_SECRET],
  ['disabled', { ...client, enabled: false }, DISABLED],
  ['without a system code', { ...client, systemCode: null }, NO_SYSTEM],
  ['with an empty system code', { ...client, systemCode: '' }, NO_SYSTEM],
])('a client that is %s may not push', async (_, known, answer) => {
  await expect(attempt({ client: known })).rejects.toThrow(answer);
});

const WORST: KnownClient = { ...client, enabled: false, systemCode: null };
test.each([
  ['the time before all', { client: undefined, timestamp: '1', signature: 'x' }, OUT_OF_WINDOW],
  [
    'the form of the signature before the client',
    { client: { ...WORST, type: 'PUBLIC' as const }, signature: 'x' },
    MISMATCH,
  ],
  ['the usable secret before disabled', { client: { ...WORST, secrets: [] } }, NO_SECRET],
  ['the signature before disabled', { client: WORST, secret: 'wrong' }, MISMATCH],
  ['disabled before the system code', { client: WORST }, DISABLED],
])('the first failure answers: %s', async (_, over, answer) => {
  await expect(attempt(over)).rejects.toThrow(answer);
});
