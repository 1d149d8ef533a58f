/** What an outage leaves in the logs: where it begins and ends, and of a crowd of rejections a count. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { type RunningServer, startMongo, startRedis } from '../../../tools/local/servers';
import { todo } from '../../support/push-bodies';
import { type Service, startService } from '../../support/service';
import { until } from '../../support/wait';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-outage-'));
let redis: RunningServer;
let mongo: RunningServer;
let service: Service;
beforeAll(async () => {
  redis = await startRedis({ dir: path.join(dir, 'redis') });
  mongo = await startMongo({ dir: path.join(dir, 'mongo') });
  // Pushes that the outage loses are answered at their deadline.
  const env = { PUSH_TIMEOUT: '10s' };
  service = await startService({ redisUrl: redis.url, mongoUrl: mongo.url, env });
});
afterAll(async () => {
  await service.stop();
  await redis.stop();
  await mongo.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const INFO = 30;
const linesOf = ({ logFile }: { readonly logFile: string }): Line[] =>
  readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    // What `debug` adds is asked for by these tests alone.
    .filter(({ level }) => level >= INFO);

const processes = () => [...service.webs, ...service.workers];
const crowd = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => service.push('upsert', todo(`C-${n}`))));

const secondsSince = (began: number) => (Date.now() - began) / 1_000;

const SERVERS = [
  {
    server: 'redis',
    reason: 'QUEUE_UNAVAILABLE',
    kill: () => redis,
    restart: async () => {
      redis = await startRedis({ dir: path.join(dir, 'redis'), port: redis.port });
    },
  },
  {
    server: 'mongodb',
    reason: 'DATABASE_UNAVAILABLE',
    kill: () => mongo,
    restart: async () => {
      mongo = await startMongo({ dir: path.join(dir, 'mongo'), port: mongo.port });
    },
  },
];

test('an outage whose connections are closed names the cause as soon as a server tells it', async () => {
  const before = new Map(processes().map((one) => [one, linesOf(one).length]));
  const admin = new Redis(redis.url);
  await admin.config('SET', 'requirepass', 'changed');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  for (const one of processes()) {
    await until('the cause in its log', async () =>
      linesOf(one)
        .slice(before.get(one))
        .some(
          ({ msg, error }) =>
            msg.startsWith('redis is unavailable') && /NOAUTH/.test(String(error)),
        ),
    );
  }
  await admin.config('SET', 'requirepass', '');
  admin.disconnect();
  for (const one of processes()) {
    await until('Redis to be back', async () =>
      linesOf(one)
        .slice(before.get(one))
        .some(({ msg }) => msg === 'redis is available again'),
    );
  }
});

test.each(SERVERS)(
  'an outage of $server has one line where it begins and one where it ends, in each process',
  async ({ server, reason, kill, restart }) => {
    const began = Date.now();
    const before = new Map(processes().map((one) => [one, linesOf(one).length]));
    const since = (one: Service['webs'][number]) => linesOf(one).slice(before.get(one));
    const mentions = (one: Service['webs'][number], text: string) =>
      since(one).filter(({ msg }) => msg === text);
    const load = crowd(300);
    kill().kill('SIGKILL');
    await kill().exited;
    await load;
    await until('the web process to notice', async () => {
      return (await service.push('upsert', todo('DOWN'))).reason === reason;
    });
    const rejected = 5 * (await crowd(200)).length;
    for (let n = 0; n < 4; n += 1) await crowd(200);
    await restart();
    for (const one of processes()) {
      await until(
        `${server} to be back`,
        async () => mentions(one, `${server} is available again`).length > 0,
      );
    }
    await until('a push to be accepted again', async () => {
      return (await service.push('upsert', todo('UP'))).code === 0;
    });
    for (const one of processes()) {
      expect(mentions(one, `${server} is unavailable`)).toHaveLength(1);
      const [end, ...more] = mentions(one, `${server} is available again`);
      expect(more).toEqual([]);
      expect(end).toMatchObject({ server, lastedMs: expect.any(Number) });
      expect(Number.isInteger(end?.lastedMs)).toBe(true);
    }
    const [web, worker] = processes().map(since);
    // Some lines a second, and not one for each rejection.
    expect(web?.length).toBeLessThan(rejected / 10 + secondsSince(began));
    const counted = web?.map(({ reason: of, suppressed }) =>
      of === reason ? (suppressed as number) : 0,
    );
    expect(counted?.some((suppressed) => suppressed > 10)).toBe(true);
    // Nobody asked the worker for anything: it says no more than that its server was away.
    expect(worker?.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining([`${server} is unavailable`, `${server} is available again`]),
    );
    expect(worker?.length).toBeLessThan(20 + secondsSince(began));
  },
);
