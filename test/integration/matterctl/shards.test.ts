/**
 * matterctl in a shell with another REDIS_SHARDS than the service: looks go by what the queue has, and nothing is
 * sent again to where no worker reads.
 */
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../../src/queue/keys';
import type { ServiceStatus } from '../../../src/status/status';
import { entryModel } from '../../../src/storage/push-log/entry';
import { matterctl } from '../../support/cli-tool';
import { todo } from '../../support/push-bodies';
import { type Service, startService, testServers } from '../../support/service';

const SHARDS = 4;
const PUSHES = 8;
const redis = new Redis(testServers().redisUrl);
let service: Service;
beforeAll(async () => {
  service = await startService({ workers: 0, env: { REDIS_SHARDS: String(SHARDS) } });
  // Only these callers do not wait for long.
  const web = await service.startWeb({ PUSH_TIMEOUT: '4s' });
  const at = { url: String(web.url) };
  const lost = Array.from({ length: PUSHES }, (_, n) => service.push('upsert', todo(`S-${n}`), at));
  for (const { reason } of await Promise.all(lost)) expect(reason).toBe('CONFIRMATION_TIMEOUT');
});
afterAll(async () => {
  await service?.stop();
  redis.disconnect();
});

const inShell = (args: string[], env: Record<string, string | undefined> = {}) =>
  matterctl(args, { env: { ...service.env, REDIS_SHARDS: undefined, ...env } });
const resend = (env?: Record<string, string>) =>
  inShell(['log', 'resend', '--json', '--from', '1h', '--system-code', 'TEST', '--apply'], env);
const waitingIn = (views: readonly { waiting: number }[] | null) =>
  views?.reduce((sum, { waiting }) => sum + waiting, 0);

test.each(['1', '3', '64'])(
  'with %s shards in the shell, looks see all of the queue',
  async (n) => {
    const shell = { REDIS_SHARDS: n };
    const stats = JSON.parse((await inShell(['queue', 'stats', '--json'], shell)).stdout);
    expect(stats).toMatchObject({ waiting: PUSHES });
    const status: ServiceStatus = JSON.parse((await inShell(['status', '--json'], shell)).stdout);
    expect(status.partitions).toHaveLength(stats.partitions.length);
    expect(waitingIn(status.partitions)).toBe(PUSHES);
  },
);

test('nothing is sent again with another number, and the right one is named', async () => {
  const before = await entryModel(service.db).countDocuments();
  const { exitCode, stderr } = await resend();
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    `REDIS_SHARDS is 1, but the queue has ${SHARDS} shards: set REDIS_SHARDS=${SHARDS} as in the service`,
  );
  expect(await entryModel(service.db).countDocuments()).toBe(before);
});

test('nor into a namespace that has no queue', async () => {
  const { exitCode, stderr } = await resend({ REDIS_NAMESPACE: 'another-one' });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'Redis has no queue of the namespace another-one: start web and worker first, or set REDIS_NAMESPACE as in the service',
  );
});

test('with the number of the service they are sent again', async () => {
  await service.startWorker();
  const { exitCode, stdout } = await resend({ REDIS_SHARDS: String(SHARDS) });
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    summary: { pushes: PUSHES, rejected: 0 },
  });
});

test('a look goes by the shell only where Redis has no number', async () => {
  const namespace = `t-none-${process.pid}`;
  const { layout } = createRedisKeys(namespace);
  const partitions = async (): Promise<unknown[]> => {
    const shell = { REDIS_NAMESPACE: namespace, REDIS_SHARDS: '64' };
    return JSON.parse((await inShell(['queue', 'partitions', '--json'], shell)).stdout);
  };
  expect(await partitions()).toHaveLength(64 * 64);
  await redis.set(layout, '2 16');
  expect(await partitions()).toHaveLength(2 * 16);
  await redis.del(layout);
});
