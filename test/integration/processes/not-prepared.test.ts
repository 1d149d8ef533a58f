/** A database that no release step has prepared: nothing is accepted, and everything names the release step. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Connection } from 'mongoose';
import { connectMongo } from '../../../src/infra/mongo';
import { matterModel } from '../../../src/storage/ledger/matters';
import type { AppProcess } from '../../../tools/local/app-process';
import { freePort } from '../../../tools/local/ports';
import { matterctl } from '../../support/cli-tool';
import { startInProcess } from '../../support/in-process';
import { todo } from '../../support/push-bodies';
import { push } from '../../support/pusher';
import { introduce, openDatabase, settingsOf, testServers } from '../../support/service';
import { until } from '../../support/wait';

const name = `t-${randomBytes(5).toString('hex')}`;
const folder = mkdtempSync(path.join(tmpdir(), 'matter-push-not-prepared-'));
const settings = settingsOf(name, testServers());
let db: Connection;
let secret: string;
let web: AppProcess;
let worker: Promise<AppProcess>;
let workerUrl: string;

const start = (kind: 'web' | 'worker', metricsPort: number) =>
  startInProcess(kind, {
    env: { ...settings, PORT: '0', METRICS_PORT: String(metricsPort) },
    logFile: path.join(folder, `${kind}.log`),
  });
const logOf = (kind: 'web' | 'worker') => readFileSync(path.join(folder, `${kind}.log`), 'utf8');
const ready = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, text: await response.text() };
};
const send = (externalId: string) =>
  push({
    ...{ url: String(web.url), clientId: 'tester', secret, operation: 'upsert' },
    ...{ body: todo(externalId), idempotencyKey: externalId },
  });

beforeAll(async () => {
  db = await connectMongo(settings.MONGO_URL);
  secret = (await introduce(db, 'tester')).secret;
  const port = await freePort();
  workerUrl = `http://127.0.0.1:${port}`;
  worker = start('worker', port);
  web = await start('web', 0);
}, 60_000);
afterAll(async () => {
  await web?.stop();
  await (await worker)?.stop();
  await db.dropDatabase();
  await db.close();
  rmSync(folder, { recursive: true, force: true });
});

const NOT_PREPARED = { code: 503, reason: 'DATABASE_NOT_PREPARED', retryable: true };

test('before it no process is ready and no push is accepted; the log names the step and what is missing', async () => {
  const { status, text } = await ready(String(web.url));
  expect(status).toBe(503);
  expect(JSON.parse(text)).toMatchObject(NOT_PREPARED);
  expect(text).toContain('release');
  const readyOfWorker = async () => (await ready(workerUrl).catch(() => undefined))?.status;
  expect(await until('an answer of the worker', readyOfWorker)).toBe(503);
  expect(await send('EARLY')).toMatchObject(NOT_PREPARED);
  expect(await matterModel(db).countDocuments({})).toBe(0);
  for (const kind of ['web', 'worker'] as const) {
    expect(logOf(kind)).toMatch(/"missing":\[[^\]]*"matters.key"[^\n]*run the release step/);
  }
  expect(logOf('worker')).not.toContain('worker ready');
});

test('doctor and status name the step', async () => {
  const secretFile = path.join(folder, 'secret');
  writeFileSync(secretFile, secret, { mode: 0o600 });
  const who = ['--client-id', 'tester', '--secret-file', secretFile];
  const doctor = await matterctl(['doctor', '--url', String(web.url), ...who], { env: settings });
  expect(doctor.exitCode).toBe(1);
  expect(doctor.stdout).toMatch(/failed +service .*release step/);
  expect(doctor.stdout).toMatch(/fix: Run the release step/);
  const status = await matterctl(['status'], { env: settings });
  expect(status.stdout).toMatch(/\nmongodb: not prepared, run release/);
});

test('after it all of them are, without a restart', async () => {
  const prepared = await openDatabase(settings.MONGO_URL);
  await prepared.close();
  await worker;
  await until('the web to be ready', async () => (await ready(String(web.url))).status === 200);
  await until('the worker to be ready', async () => (await ready(workerUrl)).status === 200);
  expect(await send('LATER')).toMatchObject({ code: 0, data: { outcome: 'CREATED' } });
}, 60_000);

test('a database that loses an index is not prepared any more', async () => {
  await matterModel(db).collection.dropIndex('key');
  const isNoticed = async () => (await ready(String(web.url))).text.includes(NOT_PREPARED.reason);
  await until('the web to notice', isNoticed);
  expect(await send('WITHOUT')).toMatchObject(NOT_PREPARED);
  const prepared = await openDatabase(settings.MONGO_URL);
  await prepared.close();
  await until('a push to be accepted', async () => (await send('WITH')).code === 0);
}, 120_000);
