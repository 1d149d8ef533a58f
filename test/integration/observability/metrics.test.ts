/** Metrics of real processes: everything that dashboard and alerts ask for is there, and moves. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Redis } from 'ioredis';
import { nativeCollection } from '../../../src/infra/mongo';
import { createRedisKeys } from '../../../src/queue/keys';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import {
  alerts,
  dashboardExpressions,
  type Sample,
  samplesIn,
  selectorsIn,
} from '../../support/prometheus';
import { todo } from '../../support/push-bodies';
import { type Service, startService, testServers, withDatabase } from '../../support/service';
import { statusOf } from '../../support/status-of';
import { until } from '../../support/wait';

const PROJECT = path.resolve(__dirname, '../../..');
let mongo: TcpProxy;
let redisProxy: TcpProxy;
let service: Service;
let redis: Redis;
/** Every value that a series of a process ever had. */
const seen = new Map<string, { sample: Sample; values: Set<number> }>();

/** A way to a server that can be cut. */
async function proxied(url: string): Promise<[TcpProxy, string]> {
  const target = new URL(url);
  const proxy = await startProxy(Number(target.port), target.hostname);
  target.host = `127.0.0.1:${proxy.port}`;
  return [proxy, target.href];
}

/** The samples of all processes; one that stands still is left out. */
async function scrape(): Promise<Sample[]> {
  const all = await Promise.all(
    service.metricsUrls.map(async (url) => {
      const asked = fetch(url, { signal: AbortSignal.timeout(5_000) });
      const text = await asked.then((answer) => answer.text()).catch(() => '');
      const samples = samplesIn(text);
      for (const sample of samples) {
        const series = `${url} ${sample.name} ${JSON.stringify(sample.labels)}`;
        const known = seen.get(series) ?? { sample, values: new Set() };
        known.values.add(sample.value);
        seen.set(series, known);
      }
      return samples;
    }),
  );
  return all.flat();
}

/** Greatest value of what `text` selects, now; undefined where nobody tells it. */
async function value(text: string): Promise<number | undefined> {
  const [selector] = selectorsIn(text);
  const found = (await scrape()).filter(
    ({ name, labels }) => name === selector?.name && selector.matches(labels),
  );
  return found.length === 0 ? undefined : Math.max(...found.map((sample) => sample.value));
}

/** Largest value that any process told so far. */
const largestSeen = (name: string) =>
  Math.max(
    ...[...seen.values()]
      .filter(({ sample }) => sample.name === name)
      .flatMap(({ values }) => [...values]),
  );

/** What each process says on its internal port. */
const readiness = () =>
  Promise.all(service.metricsUrls.map((url) => statusOf(new URL('/readyz', url))));

/** Each process looks at its servers by itself. */
const allToAnswer = (status: number) =>
  until(`all to answer ${status}`, async () =>
    (await readiness()).every((answered) => answered === status),
  );

const toBe = (text: string, is: (found: number) => boolean) =>
  until(text, async () => {
    const found = await value(text);
    return found !== undefined && is(found);
  });

beforeAll(async () => {
  const servers = testServers();
  const [mongoProxy, mongoUrl] = await proxied(servers.mongoUrl);
  mongo = mongoProxy;
  const [toRedis, redisUrl] = await proxied(servers.redisUrl);
  redisProxy = toRedis;
  service = await startService({
    processes: true,
    mongoUrl,
    redisUrl,
    metrics: true,
    env: { PARTITION_LIMIT: '10', PUSH_TIMEOUT: '5s', RATE_LIMIT: '5', RATE_BURST: '60' },
  });
  redis = new Redis(servers.redisUrl);
  await scrape();
});
afterAll(async () => {
  redis.disconnect();
  await service.stop();
  mongo.close();
  redisProxy.close();
});

const keysOf = () => createRedisKeys(String(service.env.REDIS_NAMESPACE));
const queued = (externalId: string) =>
  until('the push to be recorded', async () => {
    const entry = await entryModel(service.db).findOne({ externalId, state: 'QUEUED' }).lean();
    return entry ?? undefined;
  });
const jobToBegin = () =>
  until('a push to wait', async () => {
    return (await redis.exists(keysOf().partitionBytes(0))) === 1;
  });

test('pushes and queries are counted by operation, outcome and reason, and their stages timed', async () => {
  const key = { idempotencyKey: 'metrics-1' };
  await service.push('upsert', todo('M-1'), key);
  await service.push('upsert', todo('M-1'), key);
  await service.push('status', { externalId: 'M-1', bizStatus: 'DONE' });
  await service.push('delete', { externalId: 'NONE' });
  await service.push('upsert', { ...todo('M-1'), title: 5 });
  await service.push('upsert', todo('M-1'), { secret: 'wrong' });
  await service.push('', { externalIds: ['M-1'] }, { path: '/api/open/matters/get' });
  const lines = [
    { op: 'upsert', body: todo('M-2') },
    { op: 'upsert', body: todo('M-3') },
    { op: 'delete', body: { externalId: 'NONE' } },
    'no object',
  ];
  await service.push('batch', lines.map((line) => JSON.stringify(line)).join('\n'));
  await service.push('batch', '\n');
  const dry = { operation: 'delete', push: { externalId: 'M-1' } };
  await service.push('', dry, { path: '/api/open/verify' });
  await service.push('', { operation: 'merge' }, { path: '/api/open/verify' });
  const counted = (await scrape())
    .filter(({ name, labels }) => name === 'matter_push_requests_total' && labels.process === 'web')
    .map(({ labels, value: count }) => {
      const { operation, outcome, reason } = labels;
      return `${operation} ${outcome} ${reason} ${count}`;
    });
  expect(counted.sort()).toEqual([
    'batch-line REFUSED INVALID_JSON 1',
    'delete REFUSED MATTER_NOT_FOUND 2',
    'matters/batch ANSWERED  1',
    'matters/batch REFUSED EMPTY_BATCH 1',
    'matters/get ANSWERED  1',
    'status UPDATED  1',
    'upsert CREATED  3',
    'upsert REFUSED SIGNATURE_MISMATCH 1',
    'upsert REFUSED VALIDATION_FAILED 1',
    'upsert REPLAYED  1',
    'verify ANSWERED  1',
    'verify REFUSED VALIDATION_FAILED 1',
  ]);
  await service.push('batch', JSON.stringify(lines[0]));
  // Lines of batches have no times of their own.
  expect(await value('matter_push_request_seconds_count{operation="upsert"}')).toBe(4);
  for (const stage of ['verify', 'log', 'wait', 'batch', 'commit', 'reply']) {
    await toBe(`matter_push_stage_seconds_count{stage="${stage}"}`, (count) => count > 0);
  }
  for (const batch of ['log', 'queue']) {
    await toBe(`matter_push_batch_size_sum{batch="${batch}"}`, (pushes) => pushes > 0);
  }
});

test('partitions that nobody serves are seen, and what is shed or not confirmed', async () => {
  service.workers[0]?.kill('SIGSTOP');
  const crowd = Array.from({ length: 14 }, (_, n) =>
    service.push('upsert', todo('CROWD', { title: `${n}` })),
  );
  // A look takes five seconds where a process stands still, so long as they wait: the first one must see them.
  await until('the crowd to wait', async () => {
    const waiting = await entryModel(service.db).countDocuments({
      externalId: 'CROWD',
      state: 'QUEUED',
    });
    return waiting >= 10;
  });
  await toBe('matter_push_queue_waiting', (waiting) => waiting === 10);
  await toBe('matter_push_backlog_age_seconds', (age) => age > 0.3);
  await Promise.all(crowd);
  service.workers[0]?.kill('SIGCONT');
  await toBe('matter_push_requests_total{reason="PARTITION_FULL"}', (count) => count === 4);
  await toBe('matter_push_requests_total{reason="CONFIRMATION_TIMEOUT"}', (count) => count > 0);
  await toBe('matter_push_queue_waiting', (waiting) => waiting === 0);
  await toBe('matter_push_backlog_age_seconds', (age) => age === 0);
  await toBe('matter_push_requests_in_flight', (requests) => requests === 0);
  // Seen while they waited.
  expect(largestSeen('matter_push_requests_in_flight')).toBeGreaterThanOrEqual(10);
});

test('a reply that is lost is counted', async () => {
  const worker = service.workers[0];
  worker?.kill('SIGSTOP');
  const answer = service.push('upsert', todo('LOST'));
  const { _id } = await queued('LOST');
  // As a worker would that dies after its commit.
  const settled = { state: 'PERSISTED', result: 'CREATED', matterId: 1n } as const;
  await nativeCollection(entryModel(service.db)).updateOne({ _id }, { $set: settled });
  expect(await answer).toMatchObject({ code: 0 });
  worker?.kill('SIGCONT');
  expect(await value('matter_push_replies_lost_total')).toBe(1);
});

test('conflicts with somebody else, and retries, are counted', async () => {
  await service.push('upsert', todo('FOUGHT'));
  const matters = nativeCollection(matterModel(service.db));
  let fights = true;
  const fight = async () => {
    while (fights) {
      const change = { $inc: { revision: 1 } };
      await matters.updateOne({ externalId: 'FOUGHT' }, change).catch(() => undefined);
    }
  };
  const fighting = fight();
  await until('a conflict', async () => {
    await service.push('upsert', todo('FOUGHT', { title: String(Math.random()) }));
    const retries = (await value('matter_push_retries_total')) ?? 0;
    return retries > 0 && Number(await value('matter_push_guard_conflicts_total')) > 0;
  });
  fights = false;
  await fighting;
});

test('a partition job that fails is counted', async () => {
  mongo.setDelay(300);
  const answer = service.push('upsert', todo('CUT'));
  await jobToBegin();
  mongo.close();
  mongo.setDelay(0);
  await toBe('matter_push_partition_jobs_failed_total', (count) => count > 0);
  await mongo.open();
  await answer;
});

test('a partition job that is reclaimed is counted, and its new worker', async () => {
  expect(await value('matter_push_workers')).toBe(1);
  mongo.setDelay(300);
  const answer = service.push('upsert', todo('SILENT'));
  await jobToBegin();
  service.workers[0]?.kill('SIGSTOP');
  mongo.setDelay(0);
  await service.startWorker();
  await toBe('matter_push_partition_jobs_reclaimed_total', (count) => count > 0);
  await answer;
  service.workers[0]?.kill('SIGCONT');
  await toBe('matter_push_workers', (count) => count === 2);
});

test('a client over its rate is counted, and so are its rejections that are not recorded', async () => {
  // The log records about a hundred rejections of one client at once, and drops the next ones.
  await until('an unrecorded rejection', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => service.push('delete', { externalId: 'NONE' })),
    );
    const unrecorded = await value('matter_push_rejections_unrecorded_total');
    return answers.some(({ reason }) => reason === 'RATE_LIMITED') && Number(unrecorded) > 0;
  });
  await toBe('matter_push_requests_total{reason="RATE_LIMITED"}', (count) => count > 0);
});

test('without its servers a process tells its metrics all the same, and which one is away', async () => {
  mongo.close();
  await toBe('matter_push_up{server="mongodb"}', (up) => up === 0);
  expect(await value('matter_push_up{server="redis"}')).toBe(1);
  redisProxy.close();
  await toBe('matter_push_up{server="redis"}', (up) => up === 0);
  // Not what was known before.
  expect(await value('matter_push_queue_waiting')).toBeUndefined();
  expect(await value('matter_push_workers')).toBeUndefined();
  expect(await value('matter_push_backlog_age_seconds')).toBeUndefined();
  await allToAnswer(503);
  await mongo.open();
  await redisProxy.open();
  await toBe('matter_push_up{server="mongodb"}', (up) => up === 1);
  await toBe('matter_push_up{server="redis"}', (up) => up === 1);
  await allToAnswer(200);
});

const selectors = new Map(
  [...dashboardExpressions(), ...alerts().map(({ expr }) => expr)]
    .flatMap(selectorsIn)
    .map((selector) => [selector.text, selector]),
);

test.each([...selectors.keys()])('%s has moved', (text) => {
  const selector = selectors.get(text);
  const series = [...seen.values()].filter(
    ({ sample }) => sample.name === selector?.name && selector.matches(sample.labels),
  );
  expect(series.length).toBeGreaterThan(0);
  // A counter with labels is there from its first event on.
  const hasMoved = series.some(
    ({ sample, values }) => values.size > 1 || (sample.name.endsWith('_total') && sample.value > 0),
  );
  expect(hasMoved).toBe(true);
});

describe('a port', () => {
  test('that is in use ends the start, and is named', () => {
    const { port } = new URL(String(service.metricsUrls[0]));
    // Past the proxies: they stand still while this process waits.
    const { mongoUrl, redisUrl } = testServers();
    const servers = {
      MONGO_URL: withDatabase(mongoUrl, 'none'),
      REDIS_URL: redisUrl,
      REDIS_NAMESPACE: `${service.env.REDIS_NAMESPACE}-none`,
    };
    const env = { ...process.env, ...service.env, ...servers, PORT: '0', METRICS_PORT: port };
    for (const script of ['dist/src/web.js', 'dist/workers/main.js']) {
      const file = path.join(PROJECT, script);
      const { status, stderr } = spawnSync(process.execPath, [file], { env, timeout: 240_000 });
      expect(status).toBe(1);
      expect(String(stderr)).toContain(`127.0.0.1:${port} (METRICS_HOST, METRICS_PORT)`);
    }
  });

  test('goes with its process', async () => {
    // While the other test waited for its processes, the proxies before the servers stood still: a drain
    // without its servers ends with 1.
    await allToAnswer(200);
    const [url] = service.metricsUrls;
    await service.webs[0]?.stop();
    await expect(fetch(String(url))).rejects.toThrow();
    expect(await service.webs[0]?.exited).toBe('exit code 0');
  });
});
