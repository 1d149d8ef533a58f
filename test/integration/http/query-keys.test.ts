/**
 * Query keys (contract 3.5): what they open, and every way to do more with one. A key asks,
 * pushes only where it was made to, belongs to its client, and ends.
 */
import { randomBytes } from 'node:crypto';
import { OPERATIONS } from '../../../src/domain/operation';
import { QUERIES } from '../../../src/protocol/endpoints';
import { BATCH, ORPHANS, queryPath, VERIFY, VERIFY_BATCH } from '../../../src/protocol/paths';
import type { ClientSelf } from '../../../src/protocol/self';
import { sign } from '../../../src/protocol/signature';
import { clientModel } from '../../../src/storage/directory/client-model';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { matterctl } from '../../support/cli-tool';
import { untilKnown } from '../../support/known-client';
import type { PushOptions } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

let service: Service;
beforeAll(async () => {
  service = await startService({
    env: { QUERY_KEY_RATE: '10', RATE_LIMIT: '500', RATE_BURST: '1000' },
  });
});
afterAll(() => service.stop());

const ctl = (...args: string[]) =>
  matterctl(args, { env: { ...service.env, PUBLIC_URL: 'https://portal.example/push/' } });
const json = async (...args: string[]) => JSON.parse((await ctl(...args, '--json')).stdout);

interface Key extends Pick<PushOptions, 'clientId' | 'secret'> {
  readonly keyId: string;
}

/** Made as an operator makes it: the key is what stands in the fragment of the link. */
async function makeKey(...options: string[]): Promise<Key> {
  const { keyId, link } = await json('client', 'console', service.clientId, ...options);
  const fragment = new URLSearchParams(new URL(link).hash.slice(1));
  const key = {
    keyId,
    clientId: String(fragment.get('client')),
    secret: String(fragment.get('key')),
  };
  // Of two keys that are made in the same tenth of a second, the second one is unknown for so long.
  await until('the key to be known', async () => (await ask('clients/me', {}, key)).code === 0);
  return key;
}

const push = (operation: string, key: Key, more: Partial<PushOptions> = {}) =>
  service.push(operation, bodyOf(operation), { ...key, ...more });
const ask = (path: string, body: unknown, key: Pick<PushOptions, 'clientId' | 'secret'>) =>
  service.push('', body, { path: `/api/open/${path}`, ...key });
const me = async (key: Key) => (await ask('clients/me', {}, key)).data as unknown as ClientSelf;

/**
 * The entry of a rejection, or of the same one once more: they are recorded in the background, at a bounded rate
 * that other tests may have used up.
 */
async function entryAfter(first: string, again: () => Promise<{ requestId: string }>) {
  const ids = [first];
  return until('its entry', async () => {
    const found = await entryModel(service.db)
      .findOne({ _id: { $in: ids } })
      .lean();
    if (!found) ids.push((await again()).requestId);
    return found ?? undefined;
  });
}

const bodyOf = (operation: string) =>
  operation === 'upsert'
    ? { matterType: 'TODO', externalId: 'QK-1', title: 'x' }
    : { externalId: 'QK-1', ...(operation === 'status' && { bizStatus: 'DONE' }) };
const NOT_ALLOWED = {
  status: 403,
  code: 403,
  reason: 'SCOPE_NOT_ALLOWED',
  message: '密钥无推送权限',
  retryable: false,
  data: null,
};
const UNKNOWN = { status: 401, reason: 'SIGNATURE_MISMATCH', message: 'HMAC 签名校验失败' };

describe('a key that may only ask', () => {
  let key: Key;
  beforeAll(async () => {
    await service.push('upsert', bodyOf('upsert'));
    key = await makeKey();
  });
  const ledger = () => matterModel(service.db).find().lean();

  test.each(OPERATIONS)(
    '%s is refused, is in the log with its key, and changes nothing',
    async (operation) => {
      const before = await ledger();
      const { requestId, ...answer } = await push(operation, key);
      expect(answer).toMatchObject(NOT_ALLOWED);
      expect(await ledger()).toEqual(before);
      const entry = await entryAfter(requestId, () => push(operation, key));
      expect(entry).toMatchObject({ operation, result: 'SCOPE_NOT_ALLOWED', secretId: key.keyId });
    },
  );

  test('a batch is refused as a whole; its dry run is not', async () => {
    const before = await ledger();
    const lines = JSON.stringify({ op: 'upsert', body: bodyOf('upsert'), key: 'qk-line' });
    const { requestId, ...answer } = await service.push('batch', lines, key);
    expect(answer).toMatchObject(NOT_ALLOWED);
    expect(await ledger()).toEqual(before);
    const entry = await entryAfter(requestId, () => service.push('batch', lines, key));
    expect(entry).toMatchObject({
      operation: BATCH,
      result: 'SCOPE_NOT_ALLOWED',
      secretId: key.keyId,
    });
    const path = queryPath(VERIFY_BATCH);
    expect(await service.push('', lines, { ...key, path })).toMatchObject({ code: 0 });
  });

  test('its reason is told in English on request', async () => {
    const answer = await push('upsert', key, { headers: { 'Accept-Language': 'en' } });
    expect(answer).toMatchObject({ ...NOT_ALLOWED, message: 'this key may not push' });
  });

  test.each<[string, Partial<PushOptions>]>([
    ['an idempotency key', { idempotencyKey: 'qk' }],
    ['strict fields', { headers: { 'X-Strict-Fields': 'true' } }],
    ['a scope in a header', { headers: { 'X-Scope': 'push', 'X-Query-Key': 'false' } }],
    ['the client id in other letters', { headers: { 'X-Client-Id': 'TESTER' } }],
    ['a query’s path in another header', { headers: { 'X-Original-URL': '/api/open/clients/me' } }],
    ['another method in a header', { headers: { 'X-HTTP-Method-Override': 'PUT' } }],
    ['the id of its key behind the client id', { headers: { 'X-Client-Id': 'tester key' } }],
    ['a path with a query', { path: '/api/open/matters/upsert?scope=push' }],
    ['a path with a slash more', { path: '/api/open/matters/upsert/' }],
    ['a path in other letters', { path: '/api/open/Matters/Upsert' }],
    ['an encoded path', { path: '/api/open/matters/%75psert' }],
    ['PUT', { method: 'PUT' }],
    ['chunks', { headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' } }],
  ])('pushing with %s changes nothing either', async (_, more) => {
    const before = await ledger();
    const answer = await push('upsert', key, more);
    expect([401, 403, 404, 405]).toContain(answer.code);
    expect(await ledger()).toEqual(before);
  });

  test('a retry of what the client itself pushed is not answered from the log', async () => {
    const idempotencyKey = 'qk-once';
    expect(await service.push('upsert', bodyOf('upsert'), { idempotencyKey })).toMatchObject({
      code: 0,
    });
    expect(await push('upsert', key, { idempotencyKey })).toMatchObject(NOT_ALLOWED);
  });

  test('it asks everything that the client may ask', async () => {
    const bodies: Readonly<Record<string, unknown>> = {
      'matters/get': { externalIds: ['QK-1'] },
      'matters/diff': { lines: [{ externalId: 'QK-1', title: 'x' }] },
      'users/check': { usernames: ['alice'] },
      verify: { operation: 'upsert', push: bodyOf('upsert') },
    };
    for (const name of [...QUERIES, VERIFY] as const) {
      const { code, reason } = await ask(name, bodies[name] ?? {}, key);
      expect([name, code, reason]).toEqual([name, 0, undefined]);
    }
    const orphans = { ...key, path: queryPath(ORPHANS) };
    expect((await fetchLines(orphans)).status).toBe(200);
  });

  /** Its answer is lines, no envelope. */
  function fetchLines({ path, clientId, secret }: Key & { path: string }) {
    const body = '{"externalId":"QK-1"}\n';
    const timestamp = String(Math.floor(Date.now() / 1000));
    return fetch(service.urlOf() + path, {
      method: 'POST',
      body,
      headers: {
        'X-Client-Id': clientId,
        'X-Timestamp': timestamp,
        'X-Signature': sign(secret, clientId, timestamp, Buffer.from(body)),
      },
    });
  }

  test('clients/me tells what it is good for, when it ends and its own rate, and no key', async () => {
    const self = await me(key);
    expect(self.signedWith).toEqual({
      secretId: key.keyId,
      scopes: ['query'],
      bodies: true,
      endsAt: expect.stringMatching(/Z$/),
      rate: { perSecond: 10, burst: 50 },
    });
    expect(self.rate).toEqual({ perSecond: 500, burst: 1000 });
    expect(self.queryKeys).toContainEqual(
      expect.objectContaining({ secretId: key.keyId, scopes: ['query'] }),
    );
    expect(JSON.stringify(self)).not.toContain(key.secret);
    expect(JSON.stringify(self)).not.toContain('sealed');
  });
});

test('data of another system is not told, whatever is asked for', async () => {
  const { secret } = await json('client', 'create', '--id', 'theirs', '--system-code', 'THEIRS');
  const theirs = { clientId: 'theirs', secret };
  await untilKnown({ url: service.urlOf(), ...theirs });
  await service.push('upsert', { ...bodyOf('upsert'), externalId: 'THEIRS-1' }, theirs);
  const { requestId } = await service.push('upsert', bodyOf('upsert'), theirs);
  const key = await makeKey();
  const asked = await Promise.all([
    ask('matters/get', { externalIds: ['THEIRS-1'], systemCode: 'THEIRS' }, key),
    ask('matters/query', { externalIdPrefix: 'THEIRS', systemCode: 'THEIRS' }, key),
    ask('push-logs/query', { requestId, systemCode: 'THEIRS', clientId: 'theirs' }, key),
    // Their name with our key.
    ask('matters/get', { externalIds: ['THEIRS-1'] }, { ...key, clientId: 'theirs' }),
  ]);
  expect(asked.map(({ code }) => code)).toEqual([0, 0, 0, 401]);
  for (const { data } of asked) {
    expect(JSON.stringify(data)).not.toMatch(/"(systemCode|clientId)":"theirs"/i);
    expect(JSON.stringify(data)).not.toContain('CREATED');
  }
});

test('with --may-push it pushes, and the log says which key signed', async () => {
  const key = await makeKey('--may-push');
  const { requestId, ...answer } = await push('upsert', key);
  expect(answer).toMatchObject({ code: 0 });
  expect((await me(key)).signedWith.scopes).toEqual(['query', 'push']);
  const entry = await entryModel(service.db).findById(requestId).lean();
  expect(entry).toMatchObject({ state: 'PERSISTED', secretId: key.keyId });
});

describe('from its end on', () => {
  /** By somebody who still may ask. @returns the causes of a rejection of the key */
  const causesOf = async (first: string, key: Key) => {
    const rejected = await entryAfter(first, () => ask('clients/me', {}, key));
    const { data } = await until('the entry', async () => {
      const found = await ask('push-logs/query', { requestId: String(rejected._id) }, service);
      return JSON.stringify(found.data).includes('diagnosis') && found;
    });
    const [entry] = (data as unknown as { entries: { diagnosis: { findings: Finding[] } }[] })
      .entries;
    return entry?.diagnosis.findings.map(({ cause }) => cause);
  };
  interface Finding {
    readonly cause: string;
  }
  const endNow = (keyId: string) =>
    clientModel(service.db).updateOne(
      { _id: service.clientId, 'queryKeys.id': keyId },
      { $set: { 'queryKeys.$.expiresAt': new Date() } },
    );

  test('it is an unknown secret, with a diagnosis that says so', async () => {
    const key = await makeKey('--may-push');
    expect((await me(key)).signedWith.secretId).toBe(key.keyId);
    await endNow(key.keyId);
    await until('its end to be known', async () => (await push('upsert', key)).code === 401);
    expect(await push('delete', key)).toMatchObject(UNKNOWN);
    const answer = await ask('clients/me', {}, key);
    expect(answer).toMatchObject({ ...UNKNOWN, data: null });
    expect(await causesOf(answer.requestId, key)).toEqual(['QUERY_KEY_ENDED']);
  });

  test('revoked, it is refused within a second, and the trail tells by whom', async () => {
    const [key, other] = [await makeKey('--may-push'), await makeKey()];
    expect((await me(key)).signedWith.scopes).toContain('push');
    const revoked = await json(
      'client',
      'revoke',
      service.clientId,
      key.keyId,
      '--operator',
      'ann',
    );
    expect(revoked).toEqual({ clientId: service.clientId, revoked: [key.keyId] });
    const refused = await until('its end to be known', async () => {
      const answer = await ask('clients/me', {}, key);
      return answer.code === 401 && answer;
    });
    expect(refused).toMatchObject(UNKNOWN);
    expect(await push('upsert', key)).toMatchObject(UNKNOWN);
    expect(await causesOf(refused.requestId, key)).toEqual(['QUERY_KEY_ENDED']);
    expect((await me(other)).signedWith.secretId).toBe(other.keyId);
    const { stdout: trail } = await ctl('audit', '--client', service.clientId, '--json');
    for (const told of ['client console', 'client revoke', 'ann', key.keyId]) {
      expect(trail).toContain(told);
    }
    for (const { secret } of [key, other]) expect(trail).not.toContain(secret);
  });

  test('all of a client end together; its own secret goes on', async () => {
    const key = await makeKey();
    const { revoked } = await json('client', 'revoke', service.clientId, '--all');
    expect(revoked).toContain(key.keyId);
    await until('its end', async () => (await ask('clients/me', {}, key)).code === 401);
    expect(await service.push('upsert', bodyOf('upsert'))).toMatchObject({ code: 0 });
  });

  test('a disabled client’s key is refused like its secret', async () => {
    const key = await makeKey();
    await ctl('client', 'disable', service.clientId);
    try {
      const refused = await until('the client to be disabled', async () => {
        const answer = await ask('clients/me', {}, key);
        return answer.code === 403 && answer;
      });
      expect(refused).toMatchObject({ code: 403, reason: 'CLIENT_DISABLED' });
    } finally {
      await ctl('client', 'enable', service.clientId);
    }
    await until(
      'the client to be enabled',
      async () => (await ask('clients/me', {}, key)).code === 0,
    );
  });
});

test('a key has a rate of its own: it takes nothing of its client’s, nor of another key', async () => {
  await clientModel(service.db).updateOne({ _id: service.clientId }, { $unset: { queryKeys: 1 } });
  const [key, other] = [await makeKey(), await makeKey()];
  const { headers } = await ask('clients/me', {}, key);
  expect(headers['ratelimit-policy']).toBe('"client";q=50;w=5');
  const crowd = () =>
    Promise.all(
      Array.from({ length: 300 }, () =>
        ask('clients/me', { n: randomBytes(3).toString('hex') }, key),
      ),
    );
  // A slow service rejects some of a crowd with 503 before the key has used up its rate.
  await until('the key to exceed its rate', async () =>
    (await crowd()).some(({ code }) => code === 429),
  );
  const others = await Promise.all([ask('clients/me', {}, other), ask('clients/me', {}, service)]);
  expect(others.map(({ code }) => code)).toEqual([0, 0]);
  expect(others[1]?.headers['ratelimit-policy']).toBe('"client";q=1000;w=2');
});

test.each(['upsert', 'batch'])(
  'a key that may not push is held to a rate of its own at %s too',
  async (operation) => {
    await clientModel(service.db).updateOne(
      { _id: service.clientId },
      { $unset: { queryKeys: 1 } },
    );
    // What its client sent is not paid for by the key: were the rate one, it would be spent for half a minute.
    await ctl('client', 'limit', service.clientId, '--rate', '1', '--burst', '1000');
    await until('the client to have its rate', async () => {
      const { headers } = await service.push('upsert', bodyOf('upsert'));
      return headers['ratelimit-policy'] === '"client";q=1000;w=1000';
    });
    const key = await makeKey();
    const ofClient = Array.from({ length: 30 }, () => service.push('upsert', bodyOf('upsert')));
    expect(new Set((await Promise.all(ofClient)).map(({ code }) => code))).toEqual(new Set([0]));
    const body = Array.from({ length: 50 }, () => JSON.stringify({ op: 'upsert', body: {} })).join(
      '\n',
    );
    const send = () =>
      service.push(operation, operation === 'batch' ? body : bodyOf('upsert'), {
        ...key,
        headers: { 'X-Crowd': randomBytes(3).toString('hex') },
      });
    // A batch counts once: as lines three would be more than the rate has room for.
    for (let n = 0; n < 3; n += 1) expect((await send()).code).toBe(403);
    const codes = new Set<number>();
    await until('the key to exceed its rate', async () => {
      for (const { code } of await Promise.all(Array.from({ length: 300 }, send))) codes.add(code);
      return codes.has(429);
    });
    expect([...codes]).toEqual(expect.arrayContaining([403, 429]));
    expect(codes).not.toContain(0);
    await ctl('client', 'limit', service.clientId, '--default');
  },
);

describe('made and kept', () => {
  test('the link is under PUBLIC_URL or --url, the key in its fragment alone, and stored sealed', async () => {
    const made = await ctl('client', 'console', service.clientId, '--ttl', '30m');
    expect(made.exitCode).toBe(0);
    const link = made.stdout.trim();
    expect(link).toMatch(/^https:\/\/portal\.example\/push\/console#client=tester&key=[\w-]{43}$/);
    const key = String(new URLSearchParams(new URL(link).hash.slice(1)).get('key'));
    const record = await clientModel(service.db).findById(service.clientId).lean();
    expect(JSON.stringify(record)).not.toContain(key);
    const { link: there, endsAt } = await json(
      ...['client', 'console', service.clientId, '--url', 'http://10.0.0.1:3000/x'],
    );
    expect(there).toMatch(/^http:\/\/10\.0\.0\.1:3000\/x\/console#/);
    expect(Date.parse(endsAt) - Date.now()).toBeGreaterThan(7.9 * 3_600_000);
    expect(made.stderr).toContain('client revoke tester');
    const listed = await ctl('client', 'list');
    expect(listed.stdout).toMatch(/tester +[0-9a-f]{12} +query +2/);
    const all = [listed.stdout, (await ctl('client', 'list', '--json')).stdout].join();
    expect(all).not.toContain(key);
    expect(all).not.toContain('sealed');
  });

  test('a rotation leaves them, and reseal moves them under the first key', async () => {
    const key = await makeKey();
    await ctl('client', 'rotate', service.clientId, '--overlap', '1h');
    expect((await me(key)).signedWith.secretId).toBe(key.keyId);
    const next = `next:${Buffer.alloc(32, 9).toString('base64')},${service.env.SECRET_KEYS}`;
    const resealed = await matterctl(['client', 'reseal', '--json'], {
      env: { ...service.env, SECRET_KEYS: next },
    });
    expect(JSON.parse(resealed.stdout)).toMatchObject({ keyId: 'next', left: {} });
    const record = await clientModel(service.db).findById(service.clientId).lean();
    const seals = (record?.queryKeys ?? []).map(({ sealed }) => sealed.split('.')[0]);
    expect(new Set(seals)).toEqual(new Set(['next']));
  });

  test.each([
    [['client', 'console', 'nobody'], 1, 'there is no client nobody'],
    [['client', 'console', 'tester', '--ttl', '10s'], 1, 'at least one minute'],
    [['client', 'console', 'tester', '--ttl', '31d'], 1, 'at most 30 days'],
    [['client', 'console', 'tester', '--url', 'portal'], 2, 'an address like'],
    [['client', 'revoke', 'tester', 'ffffffffffff'], 1, 'has no query key ffffffffffff'],
    [['client', 'revoke', 'tester'], 2, 'give the id of a key, or --all'],
    [['client', 'revoke', 'tester', 'x', '--all'], 2, 'give the id of a key, or --all'],
  ])('%j fails in one line', async (args, exitCode, message) => {
    const failed = await ctl(...args);
    expect(failed).toMatchObject({ exitCode, stdout: '' });
    expect(failed.stderr).toContain(message);
  });

  test('a client has ten that work at most; those that ended make room', async () => {
    await ctl('client', 'create', '--id', 'many', '--system-code', 'MANY');
    await ctl('client', 'create', '--id', 'public', '--system-code', 'P', '--public');
    const make = (id: string) => ctl('client', 'console', id);
    const made = await Promise.all(Array.from({ length: 12 }, () => make('many')));
    expect(made.filter(({ exitCode }) => exitCode === 0)).toHaveLength(10);
    expect((await make('many')).stderr).toContain('has 10 valid query keys');
    await ctl('client', 'revoke', 'many', '--all');
    expect((await make('many')).exitCode).toBe(0);
    expect((await make('public')).stderr).toContain('is PUBLIC');
  });
});
