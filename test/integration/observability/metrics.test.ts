/** Metrics of real processes: everything that dashboard and alerts ask for is there, and moves. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Redis } from 'ioredis';
import { nativeCollection } from '../../../src/infra/mongo';
import { createRedisKeys } from '../../../src/queue/keys';
import { matterModel } from '../../../src/storage/ledger/matters';
import { entryModel } from '../../../src/storage/push-log/entry';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { partitionOfKey } from '../../support/partitions';
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
  // The proxies stand still with this process: heartbeats that are late for it are no outage.
  if (target.protocol === 'mongodb:') target.searchParams.set('connectTimeoutMS', '60000');
  return [proxy, target.href];
}

/** The samples of processes; one that stands still is left out. */
async function scrape(urls = service.metricsUrls): Promise<Sample[]> {
  const all = await Promise.all(
    urls.map(async (url) => {
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

/** Greatest value of what `text` selects, now; undefined where none of the processes tells it. */
async function value(text: string, urls = service.metricsUrls): Promise<number | undefined> {
  const [selector] = selectorsIn(text);
  const found = (await scrape(urls)).filter(
    ({ name, labels }) => name === selector?.name && selector.matches(labels),
  );
  return found.length === 0 ? undefined : Math.max(...found.map((sample) => sample.value));
}

/** What each process says on its internal port. */
const readiness = () =>
  Promise.all(service.metricsUrls.map((url) => statusOf(new URL('/readyz', url))));

/** Each process looks at its servers by itself. */
const allToAnswer = (status: number) =>
  until(`all to answer ${status}`, async () =>
    (await readiness()).every((answered) => answered === status),
  );

/** @param urls of some processes; all, where absent */
async function toBe(text: string, is: (found: number) => boolean, urls?: readonly string[]) {
  let found: number | undefined;
  await until(
    () => `${text}, which was ${found} at last`,
    async () => {
      found = await value(text, urls);
      return found !== undefined && is(found);
    },
  );
}

/** Each process answers, and none of them tells this metric. */
const toBeGone = (name: string) =>
  until(`no ${name}`, async () => {
    const samples = await scrape();
    const answered = samples.filter((one) => one.name === 'matter_push_up');
    const isEach = answered.length === 2 * service.metricsUrls.length;
    return isEach && samples.every((one) => one.name !== name);
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
    env: { PARTITION_LIMIT: '10', PUSH_TIMEOUT: '20s', RATE_LIMIT: '5', RATE_BURST: '60' },
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
/**
 * Pushes until one waits in the queue: one that is over its rate, or comes right after an outage, is answered before.
 *
 * @returns whether the pushes are answered
 */
async function pushToWait(externalId: string): Promise<() => boolean> {
  const answers: string[] = [];
  let sent = 0;
  const note = ({ reason = 'applied' }: { readonly reason?: string }) => answers.push(reason);
  await until(
    () => `a push to wait; the last answer was ${answers.at(-1)}`,
    async () => {
      if (sent === answers.length) {
        sent += 1;
        service
          .push('upsert', todo(externalId))
          .then(note, (error) => note({ reason: String(error) }));
      }
      return (await redis.exists(keysOf().partitionBytes(0))) === 1;
    },
  );
  return () => sent === answers.length;
}

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
  const ofWeb = ({ name, labels }: Sample) =>
    name === 'matter_push_requests_total' && labels.process === 'web';
  const samples = await until('the web to tell its requests', async () => {
    const found = (await scrape()).filter(ofWeb);
    return found.length > 0 && found;
  });
  const counted = samples.map(({ labels, value: count }) => {
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
  await toBe('matter_push_request_seconds_count{operation="upsert"}', (count) => count === 4);
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
  // While they wait. A look takes five seconds where a process stands still, so only the web is asked.
  await toBe(
    'matter_push_requests_in_flight',
    (requests) => requests >= 10,
    service.metricsUrls.slice(0, 1),
  );
  await toBe('matter_push_queue_waiting', (waiting) => waiting === 10);
  await toBe('matter_push_backlog_age_seconds', (age) => age > 0.3);
  await Promise.all(crowd);
  service.workers[0]?.kill('SIGCONT');
  await toBe('matter_push_requests_total{reason="PARTITION_FULL"}', (count) => count === 4);
  await toBe('matter_push_requests_total{reason="CONFIRMATION_TIMEOUT"}', (count) => count > 0);
  await toBe('matter_push_queue_waiting', (waiting) => waiting === 0);
  await toBe('matter_push_backlog_age_seconds', (age) => age === 0);
  await toBe('matter_push_requests_in_flight', (requests) => requests === 0);
});

test('a reply that is lost is counted', async () => {
  const lost = 'matter_push_replies_lost_total';
  // More than none, where a process stood still between the commit of an earlier push and its reply.
  const before = await until('the replies lost so far', async () => {
    const count = await value(lost);
    return count !== undefined && { count };
  });
  const worker = service.workers[0];
  worker?.kill('SIGSTOP');
  const answer = service.push('upsert', todo('LOST'));
  const { _id } = await queued('LOST');
  // As a worker would that dies after its commit.
  const settled = { state: 'PERSISTED', result: 'CREATED', matterId: 1n } as const;
  await nativeCollection(entryModel(service.db)).updateOne({ _id }, { $set: settled });
  expect(await answer).toMatchObject({ code: 0 });
  worker?.kill('SIGCONT');
  await toBe(lost, (count) => count > before.count);
  expect(await value(lost)).toBe(before.count + 1);
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
  const fought = until('a conflict', async () => {
    await service.push('upsert', todo('FOUGHT', { title: String(Math.random()) }));
    const retries = (await value('matter_push_retries_total')) ?? 0;
    return retries > 0 && Number(await value('matter_push_guard_conflicts_total')) > 0;
  });
  await fought.finally(() => {
    fights = false;
  });
  await fighting;
});

test('a partition job that fails is counted', async () => {
  mongo.setDelay(300);
  const areAnswered = await pushToWait('CUT');
  mongo.close();
  mongo.setDelay(0);
  await toBe('matter_push_partition_jobs_failed_total', (count) => count > 0);
  await mongo.open();
  await until('the pushes to be answered', async () => areAnswered());
});

test('a partition job that is reclaimed is counted, and its new worker', async () => {
  await toBe('matter_push_workers', (count) => count === 1);
  const [silent] = service.workers;
  // A worker keeps a partition, and its job, for three seconds after the last push.
  await until('a worker to stand still with a partition', async () => {
    const { code } = await service.push('upsert', todo('SILENT'));
    silent?.kill('SIGSTOP');
    const partition = String(partitionOfKey('TEST', 'SILENT'));
    const isHeld = code === 0 && (await redis.hexists(keysOf().owners(0), partition)) === 1;
    if (!isHeld) silent?.kill('SIGCONT');
    return isHeld;
  });
  await service.startWorker();
  // A worker may have reclaimed a job of its own before, after it had stood still.
  const ofNew = service.metricsUrls.slice(-1);
  await toBe('matter_push_partition_jobs_reclaimed_total', (count) => count > 0, ofNew);
  silent?.kill('SIGCONT');
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
  await toBe('matter_push_up{server="redis"}', (up) => up === 1);
  redisProxy.close();
  await toBe('matter_push_up{server="redis"}', (up) => up === 0);
  // Not what was known before.
  await toBeGone('matter_push_queue_waiting');
  await toBeGone('matter_push_workers');
  await toBeGone('matter_push_backlog_age_seconds');
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
