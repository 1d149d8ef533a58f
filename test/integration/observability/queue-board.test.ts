/**
 * The queue board: it shows partition jobs, changes nothing, tells nothing of pushes, and is off unless
 * asked for.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { appRoutes } from '@bull-board/api/dist/routes.js';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { createRedisKeys, PARTITION_JOB_QUEUE, type RedisKeys } from '../../../src/queue/keys';
import { startProxy, type TcpProxy } from '../../../tools/harness/proxy';
import { type Service, startService, testServers } from '../../support/service';
import { until } from '../../support/wait';

const { redisUrl } = testServers();
/** Milliseconds: longer than any answer may take. */
const TIMEOUT = 8_000;

interface Told {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

async function ask(url: string, method = 'GET', body?: string): Promise<Told> {
  const headers = { 'Content-Type': 'application/json' };
  const signal = AbortSignal.timeout(TIMEOUT);
  const answer = await fetch(url, { method, headers, body, signal });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

/** Where the board of a process is. */
const boardOf = (service: Service, number = 0) =>
  new URL('/queues', String(service.metricsUrls[number])).href;

describe('while it is on', () => {
  let service: Service;
  let proxy: TcpProxy;
  let redis: Redis;
  let keys: RedisKeys;
  let jobId: string;
  beforeAll(async () => {
    const target = new URL(redisUrl);
    proxy = await startProxy(Number(target.port), target.hostname);
    target.host = `127.0.0.1:${proxy.port}`;
    // Long enough for a busy machine to record the push, which then nobody takes.
    const env = { QUEUE_BOARD: 'on', PUSH_TIMEOUT: '2s' };
    service = await startService({
      processes: true,
      workers: 0,
      metrics: true,
      redisUrl: target.href,
      env,
    });
    redis = new Redis(redisUrl);
    keys = createRedisKeys(String(service.env.REDIS_NAMESPACE));
    // Nobody takes its job, and nobody is left who waits for it.
    const push = { matterType: 'TODO', externalId: 'KEY-7', title: 'TITLE-7' };
    expect(await service.push('upsert', push)).toMatchObject({ code: 504 });
    const queue = new Queue(PARTITION_JOB_QUEUE, { connection: redis, prefix: keys.bullPrefix(0) });
    const job = await until('the partition job', async () => (await queue.getWaiting())[0]);
    jobId = String(job.id);
    await queue.close();
  });
  afterAll(async () => {
    await service?.stop();
    redis?.disconnect();
    proxy?.close();
  });

  /** Everything of the deployment in Redis, but for the heartbeats of its processes. */
  async function dump(): Promise<(string | undefined)[][]> {
    const heartbeats: readonly string[] = [keys.processes, keys.processHeartbeats];
    const found = await redis.keys(`${keys.bullPrefix(0)}*`);
    const names = found.filter((name) => !heartbeats.includes(name)).sort();
    const values = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
    return names.map((name, n) => [name, values[n]?.toString('hex')]);
  }

  const fill = (route: string, status = 'failed') =>
    boardOf(service) +
    route
      .replace(':queueName', PARTITION_JOB_QUEUE)
      .replace(':jobId', jobId)
      .replace(':queueStatus', status)
      .replace(':schedulerId', 'any');
  const ROUTES = appRoutes.api.flatMap(({ method, route }) =>
    [method].flat().flatMap((one) => [route].flat().map((to) => [one, to] as const)),
  );
  const READING = ROUTES.filter(([method]) => method === 'get').map(([, route]) => route);
  const CHANGING = ROUTES.filter(([method]) => method !== 'get');

  test('the page and what it lists are there, on the internal port alone', async () => {
    const page = await ask(boardOf(service));
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    const { queues } = JSON.parse(
      (
        await ask(
          `${boardOf(service)}/api/queues?activeQueue=${PARTITION_JOB_QUEUE}&status=latest&page=1`,
        )
      ).text,
    );
    const name = expect.stringMatching(/^job of partition \d$/);
    expect(queues).toMatchObject([
      { name: PARTITION_JOB_QUEUE, readOnlyMode: true, jobs: [{ id: jobId, name }] },
    ]);
    for (const place of ['/queues', '/queues/', '/queues/api/queues']) {
      const { status, text } = await ask(service.urlOf() + place);
      expect([place, status, JSON.parse(text).reason]).toEqual([place, 404, 'PATH_NOT_FOUND']);
    }
  });

  test('nothing of it may come from elsewhere', async () => {
    const { headers, text } = await ask(boardOf(service));
    const policy = String(headers.get('content-security-policy'));
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|script-src [^;]*unsafe/);
    expect(text).not.toMatch(/(src|href)="(https?:)?\/\//);
  });

  test.each(READING)('GET %s changes nothing, and tells nothing of pushes', async (route) => {
    const before = await dump();
    const { status, text } = await ask(fill(route));
    expect(status).toBe(200);
    expect(text).not.toMatch(/TITLE-7|KEY-7|tester|upsert/);
    expect(await dump()).toEqual(before);
  });

  test('what Bull Board can change is known to this test', () => {
    expect(CHANGING.length).toBeGreaterThan(20);
    expect(CHANGING).toContainEqual(['put', '/api/queues/pause']);
    expect(CHANGING).toContainEqual(['put', '/api/queues/:queueName/obliterate']);
  });

  test.each(CHANGING)('%s %s is rejected and changes nothing', async (method, route) => {
    const before = await dump();
    expect(before.length).toBeGreaterThan(4);
    for (const status of ['failed', 'completed', 'wait', 'waiting', 'active', 'delayed']) {
      const answer = await ask(
        fill(route, status),
        method.toUpperCase(),
        '{"jobData":{"partition":3}}',
      );
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'HEAD, GET']);
    }
    expect(await dump()).toEqual(before);
  });

  test.each(['/queuesx', '/queues/none', '/queues/static/none.js', '/queues/static/js'])(
    '%s is not there',
    async (place) => {
      const { status } = await ask(new URL(place, boardOf(service)).href);
      expect(status).toBe(404);
    },
  );

  test.each<[string, () => void, () => unknown]>([
    ['is away', () => proxy.close(), () => proxy.open()],
    ['is silent', () => proxy.setDropping(true), () => proxy.setDropping(false)],
  ])(
    'while Redis %s there is an error, in time, and afterwards it is there again',
    async (_how, lose, mend) => {
      const api = `${boardOf(service)}/api/queues`;
      lose();
      try {
        const page = await ask(boardOf(service));
        expect([page.status, page.text]).toEqual([
          503,
          expect.stringMatching(/^There is nothing to show: Redis does not answer/),
        ]);
        expect((await ask(api)).status).toBe(500);
      } finally {
        await mend();
      }
      await until('the board to be back', async () => {
        const answers = await Promise.all([ask(boardOf(service)), ask(api)]);
        return answers.every(({ status }) => status === 200);
      });
    },
  );
});

describe('its modules', () => {
  /** Says, when its process ends, what it had loaded. */
  const SPY = `process.on('exit', () =>
    require('node:fs').writeFileSync(
      process.env.LOADED_FOLDER + '/' + process.pid,
      Object.keys(require.cache).join('\\n')))`;

  /** What web and worker had loaded of Bull Board, and of all. */
  async function loaded(board: string): Promise<{ ofBoard: number; all: number }[]> {
    const folder = mkdtempSync(path.join(tmpdir(), 'matter-push-loaded-'));
    const spy = path.join(folder, 'spy.cjs');
    writeFileSync(spy, SPY);
    try {
      const env = { QUEUE_BOARD: board, NODE_OPTIONS: `--require ${spy}`, LOADED_FOLDER: folder };
      const service = await startService({ processes: true, metrics: true, env });
      const answers = await Promise.all([0, 1].map((number) => ask(boardOf(service, number))));
      expect(answers.map(({ status }) => status)).toEqual(
        Array(2).fill(board === 'on' ? 200 : 404),
      );
      await service.stop();
      return readdirSync(folder)
        .filter((name) => /^\d+$/.test(name))
        .map((name) => {
          const files = readFileSync(path.join(folder, name), 'utf8').split('\n');
          const isOfBoard = /@bull-board|dist.src.board.(?!open|options)/;
          return { ofBoard: files.filter((it) => isOfBoard.test(it)).length, all: files.length };
        });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test('are loaded where it is on, by web and by worker', async () => {
    const counts = await loaded('on');
    expect(counts).toHaveLength(2);
    for (const { ofBoard } of counts) expect(ofBoard).toBeGreaterThan(10);
  });

  test('are not loaded where it is off', async () => {
    const counts = await loaded('off');
    expect(counts.map(({ ofBoard }) => ofBoard)).toEqual([0, 0]);
    for (const { all } of counts) expect(all).toBeGreaterThan(100);
  });
});
