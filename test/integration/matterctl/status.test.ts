/** `matterctl status`: one screen, on which an operator sees what goes on, also while a server is away. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import type { ServiceStatus } from '../../../src/status/status';
import { createClientAdmin } from '../../../src/storage/directory/client-admin';
import { createKeyRing } from '../../../src/storage/directory/sealing';
import { entryModel } from '../../../src/storage/push-log/entry';
import { type RunningServer, startRedis } from '../../../tools/local/servers';
import { matterctl } from '../../support/cli-tool';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const PROJECT = path.resolve(__dirname, '../../..');
const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-status-'));
let redis: RunningServer;
let service: Service;
beforeAll(async () => {
  redis = await startRedis({ dir });
  service = await startService({
    processes: true,
    redisUrl: redis.url,
    workers: 2,
    env: { RATE_LIMIT: '500' },
  });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
  rmSync(dir, { recursive: true, force: true });
});

const run = (...args: string[]) => matterctl(['status', ...args], { env: service.env });
const look = async (): Promise<ServiceStatus> => JSON.parse((await run('--json')).stdout);
/** Looks until the status has what is looked for. */
const seen = <T>(what: string, find: (status: ServiceStatus) => T | undefined | false) =>
  until(what, async () => find(await look()));
const admin = () =>
  createClientAdmin(service.db, createKeyRing([String(service.env.SECRET_KEYS)]), Date.now);
const nameOf = (type: string, { pid }: { readonly pid: number }) => `${type}-${hostname()}-${pid}`;

test('servers, and every process by the name that its log has', async () => {
  const names = [
    ...service.webs.map((web) => nameOf('web', web)),
    ...service.workers.map((worker) => nameOf('worker', worker)),
  ].sort();
  const status = await seen('all processes', (found) => found.processes?.length === 3 && found);
  expect(status.processes?.map(({ name }) => name)).toEqual(names);
  for (const one of status.processes ?? []) {
    expect(one).toMatchObject({ state: 'ready', isSilent: false, version: expect.any(String) });
  }
  expect(status.servers).toMatchObject([
    { server: 'mongodb', isReachable: true, version: expect.any(String), role: 'primary' },
    { server: 'redis', isReachable: true, version: expect.any(String), role: 'master' },
  ]);
  const [web] = service.webs;
  const [line = ''] = readFileSync(String(web?.logFile), 'utf8').split('\n');
  expect(names).toContain(JSON.parse(line).name);
});

test('what pushes came to, with p50 and p95, and for whom', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, n) => service.push('upsert', todo(`S-${n}`))));
  await service.push('status', { externalId: 'NONE', bizStatus: 'DONE' });
  const { flow, clients, processes } = await seen('the pushes', (status) => {
    return status.clients?.some(({ pushes }) => pushes === 21) && status;
  });
  expect(flow?.results).toMatchObject([
    { result: 'CREATED', count: 20, p50: expect.any(Number), p95: expect.any(Number) },
    { result: 'MATTER_NOT_FOUND', count: 1 },
  ]);
  const about = { pushes: 21, failed: 0, rejected: 1, lastReason: 'MATTER_NOT_FOUND', rate: 500 };
  expect(clients).toMatchObject([{ clientId: service.clientId, ...about, paused: null }]);
  // The workers that settled entries are among them.
  const workers = await entryModel(service.db).distinct('worker');
  expect(processes?.map(({ name }) => name)).toEqual(expect.arrayContaining(workers));
});

test('a paused client, and what of its pushes could be sent again', async () => {
  await admin().pause(service.clientId, 'month end');
  await until('a push to be rejected', async () => {
    return (await service.push('upsert', todo('PAUSED'))).reason === 'CLIENT_PAUSED';
  });
  const { clients, resendable } = await seen('its pause', (status) => {
    const isTold = status.clients?.some(({ lastReason }) => lastReason === 'CLIENT_PAUSED');
    return isTold && (status.resendable?.reasons.CLIENT_PAUSED ?? 0) > 0 && status;
  });
  expect(clients).toMatchObject([{ paused: { reason: 'month end' } }]);
  expect(resendable?.count).toBe(resendable?.reasons.CLIENT_PAUSED);
  const { stdout } = await run();
  expect(stdout).toMatch(/\ntester +paused .* CLIENT_PAUSED +\d/);
  expect(stdout).toMatch(/\ntester is paused since \d\d-\d\d \d\d:\d\d: month end\n/);
  expect(stdout).toMatch(/\n {2}\d+ +matterctl log resend --from 24h --reason CLIENT_PAUSED\n/);
  await admin().resume(service.clientId);
  await until('a push to be accepted', async () => {
    return (await service.push('upsert', todo('PAUSED'))).code === 0;
  });
});

test('the state is the present one; a reason of the past has its own column, with its age', async () => {
  expect(await service.push('status', { externalId: 'NONE', bizStatus: 'DONE' })).toMatchObject({
    code: 404,
  });
  for (let n = 0; n < 5; n += 1) await service.push('upsert', todo(`GOOD-${n}`));
  const { clients } = await seen('the reason', (status) => {
    return status.clients?.[0]?.lastReason === 'MATTER_NOT_FOUND' && status;
  });
  expect(clients).toMatchObject([{ state: 'ok', lastReasonMs: expect.any(Number) }]);
  const { stdout } = await run();
  expect(stdout).toMatch(/\nCLIENT +STATE +PUSHES +FAILED +REJECTED +LAST REASON +AGO\n/);
  expect(stdout).toMatch(/\ntester +ok .* MATTER_NOT_FOUND +\d/);
  expect(stdout).toMatch(/^at .* \(all times: Asia\/Shanghai\)\n/);
});

test('a worker that is killed is silent, and one that ends is gone', async () => {
  const [killed] = service.workers.splice(0, 1);
  if (!killed) throw new Error('there is a worker');
  killed.kill('SIGKILL');
  const name = nameOf('worker', killed);
  await seen('it to be silent', ({ processes }) =>
    processes?.some((one) => one.name === name && one.isSilent),
  );
  expect((await run()).stdout).toMatch(new RegExp(`\n${name} +SILENT `));
  const other = await service.startWorker();
  const others = nameOf('worker', other);
  await seen('another one', ({ processes }) => processes?.some((one) => one.name === others));
  await other.stop();
  const { processes } = await look();
  expect(processes?.some((one) => one.name === others)).toBe(false);
});

test('who works on a partition is told by that name too', async () => {
  const [worker] = service.workers;
  if (!worker) throw new Error('there is a worker');
  let stop = false;
  const load = async () => {
    for (let n = 0; !stop; n += 1) await service.push('upsert', todo(`L-${n % 50}`));
  };
  const callers = Array.from({ length: 8 }, load);
  try {
    // The worker releases a partition as soon as it is empty.
    await seen('the worker to hold a partition', ({ partitions }) =>
      partitions?.some(({ owner }) => owner === nameOf('worker', worker)),
    );
  } finally {
    stop = true;
    await Promise.all(callers);
  }
});

test('the screen has 80 columns', async () => {
  const { stdout, exitCode } = await run();
  expect(exitCode).toBe(0);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  expect(stdout).toMatch(/^SERVER +STATE +VERSION +ROLE +LAST OUTAGE/m);
  expect(stdout).toMatch(/^PARTITION +WAITING +OLDEST +JOB +OWNER/m);
});

test('--watch goes on in plain text through an outage of Redis, until it is interrupted', async () => {
  const script = path.join(PROJECT, 'dist/tools/matterctl/matterctl.js');
  const env = { ...service.env, PATH: process.env.PATH };
  const child = spawn(process.execPath, [script, 'status', '--watch'], { env });
  let told = '';
  child.stdout.on('data', (chunk) => {
    told += String(chunk);
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const shown = (what: RegExp) => until(String(what), async () => what.test(told));
  await shown(/^redis +reachable/m);
  redis.kill('SIGKILL');
  await redis.exited;
  await shown(/^redis +AWAY[\s\S]*Processes: not known without Redis/m);
  // The rest is there all the same.
  await shown(new RegExp(`AWAY[\\s\\S]*\n${service.clientId} +unknown +\\d+ +\\d+ +\\d+ `));
  expect(await run()).toMatchObject({ exitCode: 1, stderr: '' });
  redis = await startRedis({ dir, port: redis.port });
  await shown(/AWAY[\s\S]*^redis +reachable .* \d\d:\d\d:\d\d, [\d.]+ m?s/m);
  // Until each process has connected again, the outage has no duration.
  const met = await seen('the end of the outage', ({ servers }) => {
    const outage = servers[1]?.lastOutage;
    return outage?.lastedMs != null && outage;
  });
  expect(met).toMatchObject({ error: expect.any(String) });
  expect(met.processes.length).toBeGreaterThan(0);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that there is none is what is looked for.
  expect(told).not.toMatch(/\u001b/);
  child.kill('SIGINT');
  expect(await exited).toBe(130);
});
