/**
 * Promise 5 on a Cluster: the connection on which BullMQ blocks says what became of it, so that no worker waits for
 * ever, and a subscriber finds another node.
 */
import { once } from 'node:events';
import type { Cluster } from 'ioredis';
import { createLogger } from '../../../src/infra/logger';
import {
  connectBlocking,
  connectFailFast,
  connectSubscriber,
  redisReady,
} from '../../../src/infra/redis/connect';
import { ClusterConnection } from '../../../src/infra/redis/ioredis';
import { type RedisCluster, startRedisCluster } from '../../../tools/harness/redis-cluster';
import { makeGround } from '../../support/ground';
import { until } from '../../support/wait';

const ground = makeGround('blocking');
const LOGGER = createLogger('test', 'silent');
let cluster: RedisCluster;
let first: Cluster;
let blocking: Cluster;

beforeAll(async () => {
  cluster = await startRedisCluster(ground);
});
beforeEach(async () => {
  first = connectBlocking(cluster.url, LOGGER) as Cluster;
  // As BullMQ does.
  blocking = first.duplicate(undefined, { redisOptions: { connectionName: 'blocking' } });
  await once(blocking, 'ready');
  await Promise.all(blocking.nodes('master').map((node) => node.ping()));
});
afterEach(() => {
  first.disconnect();
  blocking.disconnect();
});
afterAll(() => ground.clear(cluster ? [cluster] : []));

test('who waits for a connection hears of it, also where the Cluster was failing at first', async () => {
  const [survivor, ...others] = cluster.nodes;
  blocking.disconnect();
  await once(blocking, 'end');
  for (const node of others) node.kill('SIGKILL');
  await until('the survivor to find the Cluster failing', async () =>
    String(await survivor?.send('CLUSTER', 'INFO')).includes('cluster_state:fail'),
  );
  const retried = once(blocking, 'reconnecting');
  const connecting = blocking.connect();
  await retried;
  await Promise.all(others.map((node) => node.restart()));
  await cluster.whole();
  await connecting;
  expect(await blocking.set('{blocking}:key', '1')).toBe('OK');
});

test('a connection that is closed during a refresh of its slots refreshes no more', async () => {
  /** Counts refreshes, and can close itself at the start of one. */
  class Watched extends ClusterConnection {
    refreshes = 0;
    closesAtRefresh = false;
    override refreshSlotsCache(callback?: (error?: Error | null) => void): void {
      this.refreshes += 1;
      super.refreshSlotsCache(callback);
      if (!this.closesAtRefresh) return;
      this.closesAtRefresh = false;
      this.disconnect();
    }
  }
  const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  const open = () => new Watched(nodes, { slotsRefreshInterval: 10 });
  const [closed, control] = [open(), open()];
  await Promise.all([once(closed, 'ready'), once(control, 'ready')]);
  closed.closesAtRefresh = true;
  await once(closed, 'end');
  const [before, atEnd] = [closed.refreshes, control.refreshes];
  await until('the open connection to refresh', async () => control.refreshes > atEnd + 20);
  expect(closed.refreshes).toBe(before);
  control.disconnect();
});

test('a connection that has ended stays ended when the last of its nodes closes late', async () => {
  const node = await cluster.primaryOf('{blocking}:key');
  node.kill('SIGSTOP');
  try {
    blocking.disconnect();
    await once(blocking, 'end');
    await once(blocking, 'close');
    expect(blocking.status).toBe('end');
  } finally {
    node.kill('SIGCONT');
  }
  await cluster.whole();
  await blocking.connect();
  expect(await blocking.set('{blocking}:key', '1')).toBe('OK');
});

test('a subscriber goes to nodes that REDIS_URL does not name', async () => {
  const [named] = cluster.nodes;
  const url = `redis-cluster://127.0.0.1:${named?.port}`;
  const commands = connectFailFast(url, LOGGER);
  const subscriber = connectSubscriber(url, LOGGER, commands);
  try {
    await Promise.all([redisReady(commands), redisReady(subscriber)]);
    await subscriber.subscribe('channel');
    named?.kill('SIGKILL');
    await once(subscriber, 'close');
    let heard = 0;
    subscriber.on('message', () => {
      heard += 1;
    });
    await until('a message to arrive', async () => {
      await commands.publish('channel', 'told').catch(() => undefined);
      return heard > 0;
    });
  } finally {
    commands.disconnect();
    subscriber.disconnect();
    await named?.restart();
    await cluster.whole();
  }
});
