/** Each form of REDIS_URL on real processes: with and without TLS and ACL users, and what is said where it fails. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'bullmq';
import { groupOf } from '../../../src/domain/matter';
import { createLogger, type Logger } from '../../../src/infra/logger';
import {
  connectBlocking,
  connectFailFast,
  connectSubscriber,
  primariesOf,
  type RedisConnection,
  redisReady,
} from '../../../src/infra/redis/connect';
import { unsafeSettings, warnOfUnsafeSettings } from '../../../src/infra/redis/unsafe-settings';
import { createPartitionJobs } from '../../../src/queue/jobs';
import { createRedisKeys, PARTITION_JOB_QUEUE, partitionOf } from '../../../src/queue/keys';
import { writeCertificate } from '../../../tools/harness/certificate';
import { startRedisCluster } from '../../../tools/harness/redis-cluster';
import { startRedisNode, urlParts } from '../../../tools/harness/redis-node';
import { startSentinelGroup } from '../../../tools/harness/redis-sentinel';
import { aPush } from '../../support/builders';
import { makeGround } from '../../support/ground';
import { openPartitions, take } from '../../support/partitions';
import { until } from '../../support/wait';

const LOGGER = createLogger('test', 'silent');
const NAMESPACE = 'forms';
/** As docs/installation.md has them. */
const RULES =
  '~{forms}:* ~{forms:*}:* &{forms}:* &{forms:*}:* +@all -@admin -@dangerous +info +cluster|slots +cluster|info';
const SENTINEL_RULES =
  '-@all +auth +hello +ping +client|setinfo +sentinel|get-master-addr-by-name +sentinel|sentinels';

const ground = makeGround('forms');
const servers: { stop(): Promise<void> }[] = [];
afterAll(() => ground.clear(servers));

/** @returns its REDIS_URL */
async function start(form: string, isGuarded: boolean): Promise<string> {
  const folder = path.join(ground.folder, String(servers.length));
  mkdirSync(path.join(folder, 'logs'), { recursive: true });
  const there = { ...ground, folder };
  const access = isGuarded ? { rules: RULES, tls: writeCertificate(folder) } : {};
  if (form === 'single') {
    const node = await startRedisNode(there, { name: 'redis', access, config: () => [] });
    servers.push(node);
    const { scheme, login, hosts, options } = urlParts(access, [node]);
    return `${scheme}://${login}${hosts}/0${options && `?${options}`}`;
  }
  const group =
    form === 'cluster'
      ? await startRedisCluster(there, access)
      : await startSentinelGroup(there, { ...access, sentinelRules: SENTINEL_RULES });
  servers.push(group);
  return group.url;
}

const open: RedisConnection[] = [];
afterEach(() => {
  for (const redis of open.splice(0)) redis.disconnect();
});

async function connected<T extends RedisConnection>(redis: T): Promise<T> {
  open.push(redis);
  // On a busy machine, several attempts of a Cluster to connect with TLS run out of time before one succeeds.
  await redisReady(redis, 120_000);
  return redis;
}

/** What the first connection to a wrong address ends with, once it tells this: a slow machine hears of it too late. */
const failureThatTells = (url: string, cause: RegExp) => {
  let last = '';
  return until(
    () => `a failure that tells ${cause}, not: ${last}`,
    async () => {
      last = await failureOf(url);
      return cause.test(last);
    },
  );
};

/** What the first connection to a wrong address ends with. */
async function failureOf(url: string): Promise<string> {
  const redis = connectFailFast(url, LOGGER);
  open.push(redis);
  return redisReady(redis, 3_000).then(
    () => 'none',
    (error: Error) => error.message,
  );
}

test('sentinels that do not know the group are named, and so is their password', async () => {
  const url = await start('sentinel', true);
  await failureThatTells(url.replace('/mymaster', '/unknown'), /No such master/);
  await failureThatTells(url.replace('Password=app-', 'Password=no-'), /WRONGPASS/);
});

describe.each([
  ['single', false],
  ['single', true],
  ['sentinel', false],
  ['sentinel', true],
  ['cluster', false],
  ['cluster', true],
])('%s, TLS and users: %s', (form, isGuarded) => {
  let url: string;
  beforeAll(async () => {
    url = await start(form, isGuarded);
  });

  test('commands, scripts and transactions', async () => {
    const redis = await connected(connectFailFast(url, LOGGER));
    const keys = createRedisKeys(NAMESPACE);
    await redis.set(keys.probe, 'x', 'PX', 60_000);
    expect(await redis.get(keys.probe)).toBe('x');
    redis.defineCommand('twice', { lua: "return redis.call('GET', KEYS[1]) .. ARGV[1]" });
    const twice = () => (redis as unknown as Scripted).twice(1, keys.probe, 'y');
    expect([await twice(), await twice()]).toEqual(['xy', 'xy']);
    const done = await redis.multi().get(keys.probe).del(keys.probe).exec();
    expect(done).toEqual([
      [null, 'x'],
      [null, 1],
    ]);
  });

  describe('unsafe settings', () => {
    const NO_REPLICA = 'min-replicas-to-write or min-replicas-max-lag is 0';
    /** @returns the settings that are named in the log */
    const named = async (redis: RedisConnection) => {
      const [warn, debug] = [jest.fn(), jest.fn()];
      await warnOfUnsafeSettings(redis, url, { ...LOGGER, warn, debug } as unknown as Logger);
      expect(debug).not.toHaveBeenCalled();
      return warn.mock.calls.map(([{ setting }]) => setting);
    };

    test('are named in the log', async () => {
      const redis = await connected(connectFailFast(url, LOGGER));
      expect(await named(redis)).toEqual(form === 'sentinel' ? [NO_REPLICA] : []);
    });

    if (isGuarded) return;
    test('of any primary are named', async () => {
      const redis = await connected(connectFailFast(url, LOGGER));
      const [primary] = primariesOf(redis);
      await primary?.config('SET', 'maxmemory-policy', 'allkeys-lru');
      try {
        expect(await named(redis)).toContain('maxmemory-policy allkeys-lru');
      } finally {
        await primary?.config('SET', 'maxmemory-policy', 'noeviction');
      }
    });

    test('are changed as the warning says', async () => {
      const redis = await connected(connectFailFast(url, LOGGER));
      const [primary] = primariesOf(redis);
      await primary?.config('SET', 'min-replicas-to-write', '1');
      try {
        expect(unsafeSettings(String(await primary?.info()), true)).toEqual([]);
      } finally {
        await primary?.config('SET', 'min-replicas-to-write', '0');
      }
    });
  });

  test('what is published arrives, also from a script', async () => {
    const redis = await connected(connectFailFast(url, LOGGER));
    const subscriber = await connected(connectSubscriber(url, LOGGER));
    const keys = createRedisKeys(NAMESPACE);
    const channel = keys.replies(randomBytes(4).toString('hex'));
    const heard: string[] = [];
    subscriber.on('message', (_, message) => heard.push(message));
    await subscriber.subscribe(channel);
    await redis.publish(channel, 'plain');
    await redis.eval("return redis.call('PUBLISH', ARGV[1], 'scripted')", 1, keys.probe, channel);
    await until('both', async () => heard.length === 2);
    expect(heard.sort()).toEqual(['plain', 'scripted']);
  });

  test('a partition job reaches a worker', async () => {
    const redis = await connected(connectFailFast(url, LOGGER));
    const blocking = await connected(connectBlocking(url, LOGGER));
    const keys = createRedisKeys(NAMESPACE);
    const jobs = createPartitionJobs(redis, keys);
    const taken: unknown[] = [];
    const worker = new Worker(PARTITION_JOB_QUEUE, async (job) => void taken.push(job.data), {
      connection: blocking,
      prefix: keys.bullPrefix(0),
    });
    await worker.waitUntilReady();
    // One that it has to block for: by a connection that it duplicates from ours.
    await jobs.schedule([3]);
    await until('the job', async () => taken.length === 1);
    expect(taken).toEqual([{ partition: 3 }]);
    await worker.close();
    await jobs.close();
  });

  test('clients share a partition of each shard', async () => {
    const redis = await connected(connectFailFast(url, LOGGER));
    const keys = createRedisKeys(NAMESPACE, form === 'cluster' ? 3 : 1, 1);
    const partitions = openPartitions(redis, keys, { pushes: 4, bytes: 100_000 });
    const externalIds = Array.from({ length: 50 }, (_, n) => `E-${n}`);
    for (let shard = 0; shard < keys.shards; shard += 1) {
      const externalId = externalIds.find((id) => partitionOf(groupOf('S', id), keys) === shard);
      const pushes = ['flood', 'quiet', 'flood', 'flood', 'quiet'].map((clientId) => ({
        push: aPush({ clientId, systemCode: 'S', externalId: String(externalId) }),
        timeout: 5_000,
      }));
      const { appended } = await partitions.append(shard, pushes);
      const rest = ['APPENDED', 'PARTITION_FULL', 'APPENDED'];
      expect(appended).toEqual(['APPENDED', 'APPENDED', ...rest]);
      await partitions.replyAndRemove(await take(partitions, [shard], 'one'), [], 0);
      expect(await redis.exists(keys.partitionClients(shard))).toBe(0);
    }
  });

  if (!isGuarded) return;

  test('a wrong password is told, without it', async () => {
    const problem = await until('a server to answer in time', async () => {
      const found = await failureOf(url.replace('app-password@', 'not-the-password@'));
      expect(found).toMatch(/^REDIS_URL cannot be used: no answer within 3000 ms: /);
      return found.includes('WRONGPASS') && found;
    });
    expect(problem).not.toContain('not-the-password');
  });

  test('servers with a certificate that nobody signed are not trusted', async () => {
    // How a handshake with sentinels and nodes failed, ioredis keeps to itself.
    const cause = form === 'single' ? /self[- ]signed/ : /trust their certificate/;
    await failureThatTells(url.replace(/tlsCAFile=[^&]*/, ''), cause);
  });

  test('a CA file that is not there is told at once', async () => {
    const missing = url.replace(/tlsCAFile=[^&]*/, 'tlsCAFile=/none/ca.pem');
    expect(() => connectFailFast(missing, LOGGER)).toThrow(
      'REDIS_URL cannot be used: tlsCAFile: ENOENT',
    );
  });

  test('a key of others is none of its', async () => {
    const redis = await connected(connectFailFast(url, LOGGER));
    await expect(redis.get('{others}:x')).rejects.toThrow('NOPERM');
  });
});

interface Scripted {
  twice(keys: number, key: string, more: string): Promise<string>;
}
