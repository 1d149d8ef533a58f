/**
 * Authentication through HTTP: each condition of contract 3.2, its code and message. The many forms
 * of a bad header or signature are in hostile-headers and hostile-signatures.
 */
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { clientModel } from '../../../src/storage/directory/client-model';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import type { Answer, PushOptions } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
beforeAll(async () => {
  service = await startService({ env: { RATE_LIMIT: '20', RATE_BURST: '100' } });
  const { secrets } = (await clientModel(service.db).findById('tester').lean()) ?? {};
  const base = {
    type: 'CONFIDENTIAL' as const,
    systemCode: 'TEST',
    enabled: true,
    createdAt: new Date(),
  };
  await clientModel(service.db).create([
    { ...base, _id: 'public', type: 'PUBLIC' as const },
    { ...base, _id: 'secretless' },
  ]);
  expect(secrets).toHaveLength(1);
});
afterAll(() => service.stop());

const body = { matterType: 'TODO', externalId: 'AUTH', title: 'x' };
const now = () => Math.floor(Date.now() / 1000);
const send = (options: Partial<PushOptions>): Promise<Answer> =>
  service.push('upsert', body, options);
const h = (headers: PushOptions['headers']) => ({ headers });

const MISSING = [401, '缺少 HMAC 鉴权头', 'HMAC_HEADERS_MISSING'] as const;
const WINDOW = [401, 'X-Timestamp 超出允许时间窗', 'TIMESTAMP_OUT_OF_WINDOW'] as const;
const MISMATCH = [401, 'HMAC 签名校验失败', 'SIGNATURE_MISMATCH'] as const;
const SECRET = [403, 'Client 无可用 client_secret', 'NO_USABLE_SECRET'] as const;

const REFUSED: readonly [string, () => Partial<PushOptions>, readonly [number, string, string]][] =
  [
    ['no client id', () => h({ 'X-Client-Id': undefined }), MISSING],
    ['a timestamp 310 s old', () => ({ timestamp: String(now() - 310) }), WINDOW],
    ['an unknown client', () => ({ clientId: 'stranger' }), MISMATCH],
    ['another secret', () => ({ secret: 'not it' }), MISMATCH],
    ['a body that was changed', () => h({ 'X-Signature': 'ab'.repeat(32) }), MISMATCH],
    ['a public client', () => ({ clientId: 'public' }), SECRET],
    ['a client without secret', () => ({ clientId: 'secretless' }), SECRET],
  ];

test.each(REFUSED)('%s is rejected', async (_what, options, [code, message, reason]) => {
  const answer = await send(options());
  expect(answer).toMatchObject({ status: code, code, message, reason, data: null });
  expect(await matterModel(service.db).countDocuments({ externalId: 'AUTH' })).toBe(0);
});

test('who is within its rate is told how much of it is left', async () => {
  const { headers } = await until('an idle client', async () => {
    const answer = await send({});
    return answer.headers.ratelimit === '"client";r=99;t=1' && answer;
  });
  expect(headers['ratelimit-policy']).toBe('"client";q=100;w=5');
});

test('a client that was made a moment ago, and a secret of a moment ago, are known soon', async () => {
  await send({});
  const admin = createClientAdmin(
    service.db,
    createKeyRing([String(service.env.SECRET_KEYS)]),
    Date.now,
  );
  const { secret } = await admin.create({ clientId: 'newcomer', systemCode: 'TEST' });
  const newcomer = { clientId: 'newcomer', secret: String(secret) };
  // A rejection rests for ten times as long as a slow machine took to read the client.
  await until('the client to be known', async () => (await send(newcomer)).code === 0);
  const rotated = await admin.rotate('newcomer', 60_000);
  const after = { ...newcomer, secret: String(rotated.secret) };
  await until('the secret to be known', async () => (await send(after)).code === 0);
});

test('a disabled client, and one without system code, are told so after their signature holds', async () => {
  const change = async (to: object) => {
    await clientModel(service.db).updateOne({ _id: 'tester' }, { $set: to });
  };
  await change({ enabled: false });
  const disabled = await until('the web process to notice', async () => {
    const answer = await send({});
    return answer.code !== 0 && answer;
  });
  expect(disabled).toMatchObject({
    code: 403,
    message: 'Client 已停用',
    reason: 'CLIENT_DISABLED',
  });
  expect(await send({ secret: 'wrong' })).toMatchObject({ reason: 'SIGNATURE_MISMATCH' });
  await change({ enabled: true, systemCode: null });
  const unbound = await until('the web process to notice', async () => {
    const answer = await send({});
    return answer.reason === 'NO_SYSTEM_CODE' && answer;
  });
  expect(unbound).toMatchObject({ code: 403, message: 'Client 未绑定 system_code' });
  await change({ systemCode: 'TEST' });
  await until('the client to be back', async () => (await send({})).code === 0);
});

test('a rejected request of a known client is in the log, one of a stranger is not', async () => {
  const stranger = await send({ clientId: 'stranger' });
  const entry = (id: string) => entryModel(service.db).findById(id).lean();
  // Rejections are recorded in the background, at a bounded rate: one of a few is there soon.
  const rejected: string[] = [];
  const found = await until('a rejection in the log', async () => {
    rejected.push((await send({ secret: 'wrong again' })).requestId);
    return entryModel(service.db)
      .findOne({ _id: { $in: rejected } })
      .lean();
  });
  expect(found).toMatchObject({
    state: 'REFUSED',
    result: 'SIGNATURE_MISMATCH',
    clientId: 'tester',
  });
  expect(await entry(stranger.requestId)).toBeNull();
});

test('over its rate a client gets 429 with Retry-After and RateLimit headers', async () => {
  // So slow a rate gives nothing back while the test runs, on whatever machine.
  const keyRing = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, keyRing, Date.now);
  const { secret } = await admin.create({ clientId: 'hasty', systemCode: 'TEST' });
  await admin.setLimit('hasty', { rate: 1, burst: 100 });
  const hasty = { clientId: 'hasty', secret: String(secret) };
  const pushOne = (n: number) =>
    service.push('upsert', { ...body, externalId: `RATE-${n % 8}` }, hasty);
  // After the rejections of other tests a new client is known some time later only.
  const answers: Answer[] = [];
  await until('the client and its rate to be known', async () => {
    const answer = await pushOne(0);
    answers.push(answer);
    return answer.headers['ratelimit-policy'] === '"client";q=100;w=100';
  });
  answers.push(...(await Promise.all(Array.from({ length: 300 }, (_, n) => pushOne(n)))));
  const limited = answers.filter(({ code }) => code === 429);
  expect(limited.length).toBeGreaterThan(0);
  expect(answers.filter(({ code }) => code === 0).length).toBeGreaterThanOrEqual(100);
  expect(limited[0]).toMatchObject({ reason: 'RATE_LIMITED', retryable: true, status: 429 });
  expect(Number(limited[0]?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(limited[0]?.headers).toMatchObject({
    'ratelimit-policy': '"client";q=100;w=100',
    ratelimit: '"client";r=0;t=100',
  });
});
