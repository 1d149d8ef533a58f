/** A stop with servers that are away, with a log that nobody reads, and with rejections that are not recorded yet. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AppProcess } from '../../../tools/local/app-process';
import { type RunningServer, startMongo, startRedis } from '../../../tools/local/servers';
import { matterctl } from '../../support/cli-tool';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-stop-'));
let redis: RunningServer;
let mongo: RunningServer;
let service: Service;
beforeAll(async () => {
  redis = await startRedis({ dir: path.join(dir, 'redis') });
  mongo = await startMongo({ dir: path.join(dir, 'mongo') });
  service = await startService({ processes: true, redisUrl: redis.url, mongoUrl: mongo.url });
}, 120_000);
afterAll(async () => {
  await service.stop();
  await redis.stop();
  await mongo.stop();
  rmSync(dir, { recursive: true, force: true });
});

const isUp = (one: AppProcess) => !logOf(one).includes('"stopped"');
const logOf = ({ logFile }: { readonly logFile: string }) => readFileSync(logFile, 'utf8');

test('rejections of the last moment are recorded, and log query tells of those that are not', async () => {
  const web = await service.startWeb();
  const url = web.url;
  const wrong = { url, headers: { 'X-Signature': '0'.repeat(64) } };
  // More than are recorded in a second.
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, n) => service.push('upsert', todo(`BAD-${n}`), wrong)),
  );
  expect(new Set(answers.map(({ reason }) => reason))).toEqual(new Set(['SIGNATURE_MISMATCH']));
  web.kill('SIGTERM');
  expect(await web.exited).toBe('exit code 0');
  const log = service.db.collection('push_log');
  const recorded = await log.countDocuments({ result: 'SIGNATURE_MISMATCH' });
  expect(recorded).toBeGreaterThanOrEqual(10);
  const asked = ['log', 'query', '--reason', 'SIGNATURE_MISMATCH', '--limit', '1'];
  const { stderr } = await matterctl(asked, { env: service.env });
  const left = answers.length - recorded;
  if (left > 0)
    expect(stderr).toMatch(new RegExp(`${left} more push(es)? like these ha(s|ve) no entry`));
}, 60_000);

test('a log that nobody reads delays neither the work nor the end', async () => {
  const script = path.resolve(__dirname, '../../../dist/src/web.js');
  const env = { ...process.env, ...service.env, PORT: '0', METRICS_PORT: '0', LOG_REQUESTS: 'on' };
  const child = spawn(process.execPath, [script], {
    env,
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  const exited = new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  try {
    const url = await new Promise<string>((resolve) =>
      child.on('message', (message: { url: string }) => resolve(message.url)),
    );
    // A pipe holds 64 KiB, and each request is a line.
    for (let n = 0; n < 40; n += 1) {
      const many = Array.from({ length: 50 }, () => fetch(`${url}/healthz`));
      expect((await Promise.all(many)).every(({ status }) => status === 200)).toBe(true);
    }
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  } finally {
    child.kill('SIGKILL');
  }
}, 120_000);

/** The process notices the outage, gets a SIGTERM, and ends well. */
async function stopsWell(one: AppProcess, server: string): Promise<void> {
  await until('the outage to be known', async () =>
    logOf(one).includes(`${server} is unavailable`),
  );
  one.kill('SIGTERM');
  expect(await one.exited).toBe('exit code 0');
  expect(logOf(one)).not.toContain('the shutdown took too long');
}

test('while Redis is away a process that was busy, or idle all the time, ends, and that is no failure', async () => {
  expect(await service.push('upsert', todo('BEFORE'))).toMatchObject({ code: 0 });
  await Promise.all([service.startWorker(), service.startWeb()]);
  await redis.stop();
  await Promise.all(
    [...service.workers, ...service.webs.filter(isUp)].map((one) => stopsWell(one, 'redis')),
  );
  redis = await startRedis({ dir: path.join(dir, 'redis'), port: redis.port });
}, 120_000);

test('while Redis hangs, and nobody has noticed it, a process ends too, and records its last rejections', async () => {
  const rejected = { result: 'SIGNATURE_MISMATCH' };
  const recorded = () => service.db.collection('push_log').countDocuments(rejected);
  const before = await recorded();
  const busy = [await service.startWorker(), await service.startWeb()];
  const { url } = busy[1] ?? {};
  expect(await service.push('upsert', todo('BEFORE-HANG'), { url })).toMatchObject({ code: 0 });
  const idle = [await service.startWorker(), await service.startWeb()];
  const hanging = Number(redis.pid);
  process.kill(hanging, 'SIGSTOP');
  try {
    const wrong = { url, headers: { 'X-Signature': '0'.repeat(64) } };
    const answer = await service.push('upsert', todo('BAD-HANG'), wrong);
    expect(answer.reason).toBe('SIGNATURE_MISMATCH');
    for (const one of [...busy, ...idle]) one.kill('SIGTERM');
    for (const one of [...busy, ...idle]) {
      expect(await one.exited).toBe('exit code 0');
      expect(logOf(one)).not.toContain('the shutdown took too long');
    }
    expect(await recorded()).toBeGreaterThan(before);
  } finally {
    process.kill(hanging, 'SIGCONT');
  }
}, 120_000);

test('the same without the database', async () => {
  const idle = [await service.startWorker(), await service.startWeb()];
  await mongo.stop();
  await Promise.all(idle.map((one) => stopsWell(one, 'mongodb')));
  mongo = await startMongo({ dir: path.join(dir, 'mongo'), port: mongo.port });
}, 120_000);
