/** What becomes of what the service tells, and how it is handed out. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MetricsEndpoint, serveMetrics } from '../../../src/observability/metrics/endpoint';
import { areServersReady, readServers } from '../../../src/observability/metrics/prometheus';
import { createMetrics, createRegistry } from '../../../src/observability/metrics/registry';
import { PushError } from '../../../src/protocol/errors';
import { samplesIn } from '../../support/prometheus';
import { statusOf } from '../../support/status-of';

function kept(redisTime: () => Promise<number> = async () => 1_000) {
  const registry = createRegistry('web');
  const metrics = createMetrics(registry, { clock: () => 5_000, redisTime });
  const samples = async (name: string) =>
    samplesIn(await registry.registry.metrics()).filter((sample) => sample.name === name);
  return { registry, metrics, samples };
}

describe('requests', () => {
  test('are counted by operation, outcome and reason', async () => {
    const { metrics, samples } = kept();
    metrics.answered('/api/open/matters/upsert', 4_000, 'CREATED');
    metrics.answered('/api/open/matters/get', 4_000, 'ANSWERED');
    metrics.answered('/api/open/verify', 4_000, 'ANSWERED');
    metrics.rejected('/api/open/matters/delete', 4_000, new PushError('MATTER_NOT_FOUND'));
    metrics.rejected('/api/open/matters/delete', 4_000, new PushError('BACKLOG_FULL'));
    const counted = (await samples('matter_push_requests_total')).map(({ labels, value }) => {
      const { operation, outcome, reason } = labels;
      return [operation, outcome, reason, value];
    });
    expect(counted).toEqual([
      ['upsert', 'CREATED', '', 1],
      ['matters/get', 'ANSWERED', '', 1],
      ['verify', 'ANSWERED', '', 1],
      ['delete', 'REFUSED', 'MATTER_NOT_FOUND', 1],
      ['delete', 'FAILED', 'BACKLOG_FULL', 1],
    ]);
    const [sum] = await samples('matter_push_request_seconds_sum');
    expect(sum).toMatchObject({ labels: { operation: 'upsert' }, value: 1 });
  });

  test('of a batch each line counts as a push, and none has a time of its own', async () => {
    const { metrics, samples } = kept();
    metrics.lines('upsert', 150, 'CREATED');
    metrics.lines('status', 2, new PushError('MATTER_NOT_FOUND'));
    metrics.lines(undefined, 3, new PushError('INVALID_JSON'));
    metrics.answered('/api/open/matters/batch', 4_000, 'ANSWERED');
    const counted = (await samples('matter_push_requests_total')).map(({ labels, value }) => {
      const { operation, outcome, reason } = labels;
      return [operation, outcome, reason, value];
    });
    expect(counted).toEqual([
      ['upsert', 'CREATED', '', 150],
      ['status', 'REFUSED', 'MATTER_NOT_FOUND', 2],
      ['batch-line', 'REFUSED', 'INVALID_JSON', 3],
      ['matters/batch', 'ANSWERED', '', 1],
    ]);
    const times = await samples('matter_push_request_seconds_count');
    expect(times.map(({ labels, value }) => [labels.operation, value])).toEqual([
      ['matters/batch', 1],
    ]);
  });

  test('of paths that are not of the contract leave no trace: labels are bounded', async () => {
    const { metrics, samples } = kept();
    for (let n = 0; n < 100; n += 1) {
      metrics.rejected(`/api/open/matters/${n}`, 4_000, new PushError('PATH_NOT_FOUND'));
      metrics.answered(`/healthz?${n}`, 4_000, 'ANSWERED');
    }
    expect(await samples('matter_push_requests_total')).toEqual([]);
    expect(await samples('matter_push_request_seconds_count')).toEqual([]);
  });
});

describe('stages', () => {
  const stageOf = async (samples: ReturnType<typeof kept>['samples'], stage: string) =>
    (await samples('matter_push_stage_seconds_sum')).find(({ labels }) => labels.stage === stage)
      ?.value;

  test('a batch tells how long each of its pushes waited, and how many they were', async () => {
    const { metrics, samples } = kept();
    metrics.batchBegan([{ queuedAt: 9_000 }, { queuedAt: 9_500 }], 10_000);
    expect(await stageOf(samples, 'wait')).toBe(1.5);
    expect(await samples('matter_push_partition_batch_pushes_sum')).toMatchObject([{ value: 2 }]);
  });

  test('a reply took from its sending to now, by the clock of Redis', async () => {
    const { metrics, samples } = kept();
    metrics.replied(750);
    await Promise.resolve();
    expect(await stageOf(samples, 'reply')).toBe(0.25);
  });

  test('a clock that was set back, or a Redis that is away, does no harm', async () => {
    const back = kept();
    back.metrics.replied(2_000);
    await Promise.resolve();
    expect(await stageOf(back.samples, 'reply')).toBe(0);
    const away = kept(async () => Promise.reject(new Error('away')));
    away.metrics.replied(750);
    await Promise.resolve();
    expect(await stageOf(away.samples, 'reply')).toBeUndefined();
  });
});

describe('servers', () => {
  const never = () => new Promise<never>(() => undefined);
  const no = async () => Promise.reject(new Error('away'));
  const partitions = async () => [
    { waiting: 3, oldestMs: 1_500 },
    { waiting: 2, oldestMs: 500 },
    { waiting: 0, oldestMs: null },
  ];
  const fine = {
    pingDatabase: async () => 1,
    pingQueue: async () => 1,
    pingPrimary: async () => 1,
    partitions,
    workers: async () => 2,
  };

  test('are told as they are', async () => {
    const { registry, samples } = kept();
    await readServers(fine, registry);
    const of = async (name: string) => (await samples(name)).map(({ value }) => value);
    expect(await of('matter_push_up')).toEqual([1, 1]);
    expect(await of('matter_push_workers')).toEqual([2]);
    expect(await of('matter_push_queue_waiting')).toEqual([5]);
    expect(await of('matter_push_backlog_age_seconds')).toEqual([1.5]);
  });

  test.each([
    ['that are silent', never],
    ['that fail', no],
  ])('%s are told as away, in time, and nothing that was known before', async (_what, call) => {
    const { registry, samples } = kept();
    await readServers(fine, registry);
    await readServers(
      {
        ...{ pingDatabase: call, pingQueue: call, pingPrimary: call },
        ...{ partitions: call, workers: call },
      },
      registry,
    );
    expect(await samples('matter_push_up')).toMatchObject([
      { labels: { server: 'mongodb' }, value: 0 },
      { labels: { server: 'redis' }, value: 0 },
    ]);
    const unknown = ['workers', 'queue_waiting'];
    for (const name of [...unknown, 'backlog_age_seconds']) {
      expect(await samples(`matter_push_${name}`)).toEqual([]);
    }
  });
});

test('the backlog has no age where nothing waits', async () => {
  const { registry, samples } = kept();
  const empty = [{ waiting: 0, oldestMs: null }];
  const call = async () => 1;
  const pings = { pingDatabase: call, pingQueue: call, pingPrimary: call };
  await readServers({ ...pings, workers: call, partitions: async () => empty }, registry);
  expect(await samples('matter_push_backlog_age_seconds')).toMatchObject([{ value: 0 }]);
});

test.each([
  ['both answer', {}, true],
  ['the database is away', { database: false }, false],
  ['Redis is away or no primary', { primary: false }, false],
  ['Redis is full', { write: false }, true],
])('where %s a worker is ready or not', async (_what, trouble, ready) => {
  const { database, primary, write } = { database: true, primary: true, write: true, ...trouble };
  const ping = (is: boolean) => async () => (is ? 1 : Promise.reject(new Error('away')));
  const isReady = await areServersReady({
    pingDatabase: ping(database),
    pingPrimary: ping(primary),
    pingQueue: ping(write),
    partitions: async () => [],
    workers: async () => 1,
  });
  expect(isReady).toBe(ready);
});

describe('the port', () => {
  const here = { host: '127.0.0.1', port: 0, log: () => undefined };
  let text = async () => 'a_total 1\n';
  let ready = true;
  let endpoint: MetricsEndpoint;
  beforeAll(async () => {
    const pages = { contentType: 'text/plain', text: () => text(), isReady: async () => ready };
    endpoint = await serveMetrics(pages, here);
  });
  afterAll(() => endpoint.close());

  test('tells the metrics', async () => {
    const answer = await fetch(`${endpoint.url}?x=1`);
    expect([answer.status, await answer.text()]).toEqual([200, 'a_total 1\n']);
  });

  test.each([
    ['POST', '/metrics'],
    ['GET', '/'],
    ['GET', '/metrics/x'],
    ['POST', '/healthz'],
    ['GET', '/readyz/x'],
  ])('%s %s is not there', async (method, path) => {
    const answer = await fetch(new URL(path, endpoint.url), { method });
    await answer.text();
    expect(answer.status).toBe(404);
  });

  test('says that the process is alive, and whether its servers are there', async () => {
    const statusAt = (path: string) => statusOf(new URL(path, endpoint.url));
    expect([await statusAt('/healthz'), await statusAt('/readyz')]).toEqual([200, 200]);
    ready = false;
    expect([await statusAt('/healthz'), await statusAt('/readyz')]).toEqual([200, 503]);
  });

  test('a failure is an answer too', async () => {
    text = async () => Promise.reject(new Error('no'));
    expect(await statusOf(endpoint.url)).toBe(500);
  });

  test('one that is in use is named', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const pages = { contentType: '', text, isReady: async () => true };
    const failed = serveMetrics(pages, { ...here, port });
    await expect(failed).rejects.toThrow(
      `cannot listen on 127.0.0.1:${port} (METRICS_HOST, METRICS_PORT)`,
    );
    other.close();
  });
});
