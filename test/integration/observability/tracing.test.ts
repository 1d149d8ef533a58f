/** Traces over web, queue, worker and database, as a collector gets them from real processes. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { entryModel } from '../../../src/storage/push-log/entry';
import { freePort } from '../../../tools/local/ports';
import { matterctl } from '../../support/cli-tool';
import { type CollectedSpan, type Collector, startCollector } from '../../support/collector';
import { todo } from '../../support/push-bodies';
import type { Answer, PushOptions } from '../../support/pusher';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const CALLERS_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLERS_SPAN = '00f067aa0ba902b7';
const CALLERS_PARENT = `00-${CALLERS_TRACE}-${CALLERS_SPAN}-01`;
const MODULES = path.resolve(__dirname, '../../support/loaded-modules.cjs');

const folder = mkdtempSync(path.join(tmpdir(), 'matter-push-tracing-'));
const services: Service[] = [];
const collectors: Collector[] = [];
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await Promise.all(collectors.map((collector) => collector.close()));
  rmSync(folder, { recursive: true, force: true });
});

const collect = async (options?: { isDeaf: boolean }) => {
  const collector = await startCollector(options);
  collectors.push(collector);
  return collector;
};
const start = async (env: Record<string, string>, more: { workers?: number } = {}) => {
  const service = await startService({ processes: true, ...more, env });
  services.push(service);
  return service;
};
const tracingTo = (url: string) => ({
  TRACING: 'on',
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
});
const upsert = (service: Service, externalId: string, headers: PushOptions['headers'] = {}) =>
  service.push('upsert', todo(externalId, { title: `SAID ${externalId}` }), { headers });
const linesOf = (logFile = '') =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    // The last one may be half written.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const entryOf = async ({ db }: Service, { requestId }: Answer) =>
  entryModel(db).findById(requestId).lean();

describe('with a collector', () => {
  let collector: Collector;
  let service: Service;
  beforeAll(async () => {
    collector = await collect();
    service = await start(tracingTo(collector.url));
  });

  /** The spans of a push's trace, once its worker's and its server's are there. */
  const traceOf = async (answer: Answer): Promise<CollectedSpan[]> => {
    const byRequest = ({ attributes }: CollectedSpan) =>
      attributes['matter_push.request_id'] === answer.requestId;
    return until(`the trace of ${answer.requestId}`, async () => {
      const own = collector.spans.filter(byRequest);
      const server = own.find(({ kind }) => kind === 2);
      const applied = own.find(({ name }) => name.startsWith('apply'));
      if (!server || !applied) return undefined;
      const all = collector.spans.filter(({ traceId }) => traceId === server.traceId);
      return all.some(({ name }) => name === 'batch') && all;
    });
  };
  const named = (spans: readonly CollectedSpan[], name: string) => {
    const found = spans.find((span) => span.name === name);
    if (!found) throw new Error(`no span "${name}" among ${spans.map((span) => span.name)}`);
    return found;
  };

  test('one push is one connected trace over web, queue, worker and database', async () => {
    const answer = await upsert(service, 'T-1');
    expect(answer.code).toBe(0);
    const spans = await traceOf(answer);
    const server = named(spans, 'POST /api/open/matters/upsert');
    expect(server.parentSpanId).toBeUndefined();
    const ids = new Set(spans.map(({ spanId }) => spanId));
    for (const span of spans) {
      if (span !== server)
        expect([span.name, ids.has(span.parentSpanId ?? '')]).toEqual([span.name, true]);
    }
    const queue = named(spans, 'queue');
    const batch = named(spans, 'batch');
    const apply = named(spans, 'apply upsert');
    const commit = named(spans, 'commitTransaction');
    expect(queue).toMatchObject({
      service: 'matter-push-web',
      kind: 4,
      parentSpanId: server.spanId,
    });
    expect(batch).toMatchObject({
      service: 'matter-push-worker',
      kind: 5,
      parentSpanId: queue.spanId,
    });
    expect(apply).toMatchObject({ service: 'matter-push-worker', parentSpanId: queue.spanId });
    expect(apply.links).toEqual([{ traceId: batch.traceId, spanId: batch.spanId }]);
    expect(apply.attributes['matter_push.outcome']).toBe('CREATED');
    expect(commit).toMatchObject({
      service: 'matter-push-worker',
      kind: 3,
      parentSpanId: batch.spanId,
    });
    expect(server.attributes).toMatchObject({
      'http.response.status_code': 200,
      'matter_push.client_id': 'tester',
      'matter_push.outcome': 'CREATED',
    });
  });

  test('a batch of a caller and its dry run are traces; the lines of the batch belong to its trace', async () => {
    const lines = ['T-B-1', 'T-B-2'].map((id) => JSON.stringify({ op: 'upsert', body: todo(id) }));
    const send = (path: string) => service.push('', lines.join('\n'), { path });
    const spanOf = ({ requestId }: Answer) =>
      until(`the span of ${requestId}`, async () =>
        collector.spans.find(
          ({ kind, attributes }) =>
            kind === 2 && attributes['matter_push.request_id'] === requestId,
        ),
      );
    const pushed = await send('/api/open/matters/batch');
    const verified = await send('/api/open/verify/batch');
    expect([pushed.code, verified.code]).toEqual([0, 0]);
    const server = await spanOf(pushed);
    expect(server.name).toBe('POST /api/open/matters/batch');
    expect((await spanOf(verified)).name).toBe('POST /api/open/verify/batch');
    const applied = await until('a span for each line', async () => {
      const found = collector.spans.filter(
        ({ name, traceId }) => name === 'apply upsert' && traceId === server.traceId,
      );
      return found.length === lines.length && found;
    });
    const entries = await entryModel(service.db).find({ externalId: /^T-B-/ }).lean();
    expect(applied.map(({ attributes }) => attributes['matter_push.request_id']).sort()).toEqual(
      entries.map(({ _id }) => String(_id)).sort(),
    );
    expect(entries.map(({ traceId }) => traceId)).toEqual(lines.map(() => server.traceId));
  });

  test('the append of the entry and the writes of the batch are commands in it', async () => {
    const spans = await traceOf(await upsert(service, 'T-2'));
    const commandsOf = (from: string) =>
      spans.filter(({ service: by, kind }) => kind === 3 && by === from).map(({ name }) => name);
    expect(commandsOf('matter-push-web')).toEqual(
      expect.arrayContaining(['insert push_log', 'insert push_bodies']),
    );
    expect(commandsOf('matter-push-worker')).toEqual(
      expect.arrayContaining(['find matters', 'update push_log', 'commitTransaction']),
    );
  });

  test('goes on with the trace of the caller', async () => {
    const answer = await upsert(service, 'T-3', { traceparent: CALLERS_PARENT });
    const spans = await traceOf(answer);
    const server = named(spans, 'POST /api/open/matters/upsert');
    expect(server).toMatchObject({ traceId: CALLERS_TRACE, parentSpanId: CALLERS_SPAN });
    expect(named(spans, 'commitTransaction').traceId).toBe(CALLERS_TRACE);
  });

  test.each([
    ['is no such header', 'nonsense'],
    ['names no trace', `00-${'0'.repeat(32)}-${CALLERS_SPAN}-01`],
    ['is of a version that may not be', `ff-${CALLERS_TRACE}-${CALLERS_SPAN}-01`],
    ['goes on for long', `${CALLERS_PARENT}-${'x'.repeat(4_000)}`],
    ['comes twice', [CALLERS_PARENT, CALLERS_PARENT]],
  ] as const)('takes no notice of a traceparent that %s', async (_, sent) => {
    const traceparent = typeof sent === 'string' ? sent : [...sent];
    const answer = await upsert(service, 'T-4', { traceparent });
    expect(answer.code).toBe(0);
    const server = named(await traceOf(answer), 'POST /api/open/matters/upsert');
    expect(server.parentSpanId).toBeUndefined();
    expect(server.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect(server.traceId).not.toBe(CALLERS_TRACE);
  });

  test('the push log has the id of the trace, for operators and for the client', async () => {
    const answer = await upsert(service, 'T-5', { traceparent: CALLERS_PARENT });
    const { requestId } = answer;
    expect((await entryOf(service, answer))?.traceId).toBe(CALLERS_TRACE);
    const asked = await service.push('', { requestId }, { path: '/api/open/push-logs/query' });
    expect(asked.data).toMatchObject({ entries: [{ requestId, traceId: CALLERS_TRACE }] });
    const env = { MONGO_URL: service.env.MONGO_URL };
    const shown = await matterctl(['log', 'show', requestId], { env });
    expect(shown.stdout).toMatch(new RegExp(`trace id +${CALLERS_TRACE}`));
    const listed = await matterctl(['log', 'query', '--request-id', requestId, '--json'], { env });
    expect(JSON.parse(listed.stdout)).toMatchObject({ requestId, traceId: CALLERS_TRACE });
  });

  test('a rejected push has its trace in the log line, the push log and its span', async () => {
    const body = todo('T-6', { title: '' });
    const answer = await service.push('upsert', body, { headers: { traceparent: CALLERS_PARENT } });
    expect(answer.code).toBe(400);
    const { requestId } = answer;
    expect((await entryOf(service, answer))?.traceId).toBe(CALLERS_TRACE);
    const line = await until('its line in the log', async () =>
      linesOf(service.webs[0]?.logFile).find((it) => it.requestId === requestId),
    );
    expect(line).toMatchObject({ msg: 'rejected', traceId: CALLERS_TRACE });
    const span = await until('its span', async () =>
      collector.spans.find(({ attributes }) => attributes['matter_push.request_id'] === requestId),
    );
    expect(span.attributes).toMatchObject({
      'http.response.status_code': 400,
      'error.type': 'VALIDATION_FAILED',
    });
    // The caller's fault is none of the server's.
    expect(span.hasFailed).toBe(false);
  });

  test('a batch of many pushes is linked to all of them, and each of them to the batch', async () => {
    const workers = service.workers.splice(0);
    await Promise.all(workers.map((worker) => worker.stop()));
    const pushes = Array.from({ length: 12 }, () => upsert(service, 'T-7'));
    await until('all of them in their partition', async () => {
      const waiting = { externalId: 'T-7', state: 'QUEUED' };
      return (await service.db.collection('push_log').countDocuments(waiting)) === pushes.length;
    });
    await service.startWorker();
    const answers = await Promise.all(pushes);
    expect(answers.map(({ code }) => code)).toEqual(pushes.map(() => 0));
    const ids = new Set(answers.map(({ requestId }) => requestId));
    const applied = await until('a span for each', async () => {
      const found = collector.spans.filter(
        ({ name, attributes }) =>
          name === 'apply upsert' && ids.has(String(attributes['matter_push.request_id'])),
      );
      return found.length === ids.size && found;
    });
    expect(new Set(applied.map(({ traceId }) => traceId)).size).toBe(ids.size);
    const batches = await until('the batches', async () => {
      const wanted = new Set(applied.flatMap(({ links }) => links.map(({ spanId }) => spanId)));
      const found = collector.spans.filter(({ spanId }) => wanted.has(spanId));
      return found.length === wanted.size && found;
    });
    const linked = batches.flatMap(({ traceId, links }) => [
      traceId,
      ...links.map((it) => it.traceId),
    ]);
    expect(linked.sort()).toEqual(applied.map(({ traceId }) => traceId).sort());
    expect(Math.max(...batches.map(({ links }) => links.length))).toBeGreaterThan(0);
  });

  test('no span has a body, a secret, a signature or a key', async () => {
    const idempotencyKey = 'KEPT-TO-ITSELF';
    const body = todo('T-8', { title: 'SAID T-8', content: 'AND MORE' });
    const answer = await service.push('upsert', body, { idempotencyKey });
    await traceOf(answer);
    const text = collector.text();
    expect(text).toContain(answer.requestId);
    for (const kept of ['SAID', 'AND MORE', idempotencyKey, service.secret, 'ignature', 'T-8']) {
      expect(text).not.toContain(kept);
    }
  });
});

test('what the sampler leaves out is not sent, and known all the same', async () => {
  const collector = await collect();
  const service = await start({
    ...tracingTo(collector.url),
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
  });
  const left = await upsert(service, 'S-1');
  const taken = await upsert(service, 'S-2', { traceparent: CALLERS_PARENT });
  await until('the one that its caller has recorded', async () =>
    collector.spans.some(({ name }) => name === 'batch'),
  );
  expect([left.code, taken.code]).toEqual([0, 0]);
  expect((await entryOf(service, left))?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLERS_TRACE]));
});

describe.each(['away', 'deaf'])('a collector that is %s', (kind) => {
  test('disturbs neither pushes nor the log nor the end of a process', async () => {
    const isAway = kind === 'away';
    const { url } = isAway
      ? { url: `http://127.0.0.1:${await freePort()}` }
      : await collect({ isDeaf: true });
    // Without a deadline of its own the flush would outlast the drain.
    const patient = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_EXPORT_TIMEOUT: '600000' };
    const service = await start({
      ...tracingTo(url),
      ...(isAway ? { OTEL_EXPORTER_OTLP_TIMEOUT: '500' } : patient),
      OTEL_BSP_MAX_QUEUE_SIZE: '32',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '16',
      BATCH_TIMEOUT: '60s',
      PUSH_TIMEOUT: '60s',
      DRAIN_TIMEOUT: '61s',
    });
    for (let round = 0; round < 5; round += 1) {
      const some = Array.from({ length: 20 }, (_, i) => upsert(service, `A-${i}`));
      const codes = (await Promise.all(some)).map(({ code }) => code);
      expect(codes).toEqual(some.map(() => 0));
    }
    const apps = [...service.webs, ...service.workers];
    for (const { logFile } of apps) {
      if (isAway) await until('word of it', async () => tracesLines(logFile).length > 0);
    }
    await Promise.all(apps.map((app) => app.stop()));
    for (const { exited, logFile } of apps) {
      expect(await exited).toBe('exit code 0');
      expect(tracesLines(logFile).length).toBeLessThanOrEqual(2);
      expect(linesOf(logFile).map(({ msg }) => msg)).not.toContain('the shutdown took too long');
    }
  });
});

const tracesLines = (logFile: string) =>
  linesOf(logFile).filter(({ msg }) => msg === 'span export failing');

test.each([
  ['off', 0],
  ['on', 2],
] as const)('with TRACING %s, %d processes load the library', async (tracing, expected) => {
  const collector = await collect();
  const list = path.join(folder, `modules-${tracing}`);
  const service = await start({
    ...tracingTo(collector.url),
    TRACING: tracing,
    NODE_OPTIONS: `--require ${MODULES}`,
    LOADED_MODULES: list,
  });
  const answer = await upsert(service, 'M-1', { traceparent: CALLERS_PARENT });
  expect(answer.code).toBe(0);
  const apps = [...service.webs, ...service.workers];
  await Promise.all(apps.map((app) => app.stop()));
  const loaded = apps.map(({ pid }): string[] =>
    JSON.parse(readFileSync(`${list}-${pid}.json`, 'utf8')),
  );
  const ofTraces = /@opentelemetry|[/\\]tracing[/\\](?!start\.|settings\.)/;
  expect(loaded.every((files) => files.some((file) => file.includes('mongodb')))).toBe(true);
  expect(loaded.filter((files) => files.some((file) => ofTraces.test(file)))).toHaveLength(
    expected,
  );
  // Off, a trace of the caller leaves nothing behind.
  const entry = await entryOf(service, answer);
  expect(entry?.traceId).toBe(expected === 0 ? undefined : CALLERS_TRACE);
});
