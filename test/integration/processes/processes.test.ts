/** The processes as operators meet them: bad settings, rotation, logs, health, the status mode. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { clientModel } from '../../../src/storage/directory/client-model';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { entryModel } from '../../../src/storage/push-log/entry';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const PROJECT = path.resolve(__dirname, '../../..');
const MARKER = 'marker-that-no-log-may-hold';

let service: Service;
beforeAll(async () => {
  service = await startService({
    processes: true,
    env: { HTTP_STATUS_MODE: 'always-200', LOG_LEVEL: 'trace' },
  });
});
afterAll(() => service.stop());

const todo = { matterType: 'TODO', externalId: 'P-1', title: MARKER };

test.each(['dist/src/web.js', 'dist/workers/main.js', 'dist/src/release.js'])(
  '%s ends at once with every problem of its configuration',
  (script) => {
    const env = { PATH: process.env.PATH, PORT: 'many', REDIS_URL: 'http://x', PUSH_TIMEOUT: '9y' };
    const file = path.join(PROJECT, script);
    const { status, stderr } = spawnSync(process.execPath, [file], { env, timeout: 240_000 });
    expect(status).toBe(1);
    for (const name of ['MONGO_URL', 'REDIS_URL', 'SECRET_KEYS', 'PORT', 'PUSH_TIMEOUT']) {
      expect(String(stderr)).toContain(`${name}:`);
    }
    expect(String(stderr)).not.toMatch(/\n\s+at /);
  },
);

test('HTTP_STATUS_MODE=always-200 keeps the code in the envelope alone', async () => {
  const answer = await service.push('status', { externalId: 'NONE' });
  expect(answer).toMatchObject({ status: 200, code: 404, reason: 'MATTER_NOT_FOUND' });
});

test('a secret whose key is not at hand is no usable secret, and harms no other', async () => {
  const clients = clientModel(service.db);
  const { secrets = [] } = (await clients.findById('tester').lean()) ?? {};
  const lost = { ...secrets[0], id: 'lost', sealed: `gone.${'A'.repeat(16)}.${'A'.repeat(22)}.AA` };
  const about = { systemCode: 'TEST', createdAt: new Date(), type: 'CONFIDENTIAL' } as const;
  await clients.insertMany([{ ...about, _id: 'keyless', secrets: [lost] }]);
  const answer = await until('the client to be known', async () => {
    const found = await service.push('upsert', todo, { clientId: 'keyless' });
    return found.reason !== 'SIGNATURE_MISMATCH' && found;
  });
  expect(answer).toMatchObject({ code: 403, reason: 'NO_USABLE_SECRET' });
  const limit = { rate: 1_000, burst: 1_000 };
  await clients.updateOne({ _id: 'tester' }, { $push: { secrets: lost }, $set: { limit } });
  // Its limit shows that the web process has read the client anew.
  await until('the web process to notice', async () => {
    const { code, headers } = await service.push('upsert', todo);
    expect(code).toBe(0);
    return headers['ratelimit-policy'] !== undefined;
  });
  await clients.updateOne({ _id: 'tester' }, { $set: { secrets }, $unset: { limit: 1 } });
});

test('a web process that is stopping is not ready, with a status that load balancers see', async () => {
  const web = await service.startWeb();
  const url = service.urlOf(1);
  // A connection that is kept alive across the stop: new ones are rejected.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statusOf = () =>
    new Promise<number | undefined>((resolve, reject) => {
      get(`${url}/readyz`, { agent }, (res) => {
        res.resume().on('end', () => resolve(res.statusCode));
      }).on('error', reject);
    });
  expect(await statusOf()).toBe(200);
  service.workers[0]?.kill('SIGSTOP');
  const held = service.push('upsert', todo, { url });
  await until('the push to be held', () =>
    entryModel(service.db).findOne({ state: 'QUEUED' }).lean(),
  );
  const stopped = web.stop();
  await until('the drain', async () => {
    const status = await statusOf().catch(() => 'rejected');
    return status === 503 || status === 'rejected';
  });
  service.workers[0]?.kill('SIGCONT');
  expect(await held).toMatchObject({ code: 0 });
  await stopped;
});

test('health and readiness answer', async () => {
  for (const probe of ['/healthz', '/readyz']) {
    const response = await fetch(service.urlOf() + probe);
    expect(await response.json()).toMatchObject({ code: 0 });
  }
});

test('while a secret is rotated both sign, the log tells which, and the old one ends', async () => {
  const ring = createKeyRing([String(service.env.SECRET_KEYS)]);
  const admin = createClientAdmin(service.db, ring, Date.now);
  const secretIdOf = async (secret: string) => {
    const { code, requestId } = await service.push('upsert', todo, { secret });
    return code === 0 ? (await entryModel(service.db).findById(requestId).lean())?.secretId : '';
  };
  const before = await secretIdOf(service.secret);
  const { secret } = await admin.rotate('tester', 3_600_000);
  const after = await until('the new secret to be known', () => secretIdOf(secret));
  expect(after).not.toBe(before);
  expect(await secretIdOf(service.secret)).toBe(before);
  await admin.rotate('tester', 0);
  await until('the oldest secret to end', async () => (await secretIdOf(service.secret)) === '');
});

test('no log holds a secret or a body', async () => {
  await service.push('upsert', todo);
  await service.push('upsert', { ...todo, priority: 5 });
  await service.push('upsert', todo, { secret: 'wrong' });
  for (const { logFile } of [...service.webs, ...service.workers]) {
    const log = readFileSync(logFile, 'utf8');
    expect(log).toContain('starting');
    expect(log).not.toContain(MARKER);
    expect(log).not.toContain(service.secret);
    expect(log).not.toContain(String(service.env.SECRET_KEYS).split(':')[1]);
  }
});
