/**
 * A primary of a Redis Cluster and its replica are away for long: the pushes of their shards are turned away, all
 * others are served. As docs/scaling.md has it, under `cluster-require-full-coverage no`.
 */
import { groupOf } from '../../src/domain/matter';
import { createRedisKeys, DEFAULT_PARTITIONS, partitionOf, shardOf } from '../../src/queue/keys';
import {
  type ClusterNode,
  type RedisCluster,
  startRedisCluster,
} from '../../tools/harness/redis-cluster';
import { makeGround, type TestGround } from '../support/ground';
import { todo } from '../support/push-bodies';
import { type Service, startService } from '../support/service';
import { statusOf } from '../support/status-of';
import { until } from '../support/wait';

const SHARDS = 8;
const KEYS = Array.from({ length: 48 }, (_, n) => `K-${n}`);
let ground: TestGround;
let cluster: RedisCluster;
let service: Service;
beforeAll(async () => {
  ground = makeGround('shards');
  cluster = await startRedisCluster(ground);
  const env = { PUSH_TIMEOUT: '20s', REDIS_SHARDS: String(SHARDS) };
  service = await startService({
    processes: true,
    ...{ redisUrl: cluster.url, workers: 2, env, metrics: true },
  });
});
afterAll(async () => {
  await service?.stop();
  await ground.clear(cluster ? [cluster] : []);
});

const push = (externalId: string) => service.push('upsert', todo(externalId));
const codesOf = async (keys: readonly string[]) =>
  new Set((await Promise.all(keys.map(push))).map(({ code }) => code));
const areServed = async (keys: readonly string[]) => [...(await codesOf(keys))].join() === '0';
const LAYOUT = { shards: SHARDS, partitions: DEFAULT_PARTITIONS };
const shardOfKey = (externalId: string) =>
  shardOf(partitionOf(groupOf('TEST', externalId), LAYOUT), SHARDS);

/** A primary that has some of the shards, and not what is no queue; and its replica. */
async function victims(): Promise<{ nodes: ClusterNode[]; shards: Set<number> }> {
  const keys = createRedisKeys(String(service.env.REDIS_NAMESPACE), SHARDS);
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const primaries = await Promise.all(shards.map((n) => cluster.primaryOf(keys.bullPrefix(n))));
  const ofAllElse = await cluster.primaryOf(keys.probe);
  const primary = primaries.find((one) => one !== ofAllElse);
  if (!primary) throw new Error('all shards are on one node');
  const info = String(await primary.send('INFO', 'replication'));
  const port = Number(/^slave0:.*port=(\d+)/m.exec(info)?.[1]);
  const replica = cluster.nodes.filter(({ announced }) => announced === port);
  return {
    nodes: [primary, ...replica],
    shards: new Set(shards.filter((n) => primaries[n] === primary)),
  };
}

test('pushes of other shards are served meanwhile, and those of all afterwards', async () => {
  await cluster.whole();
  const { nodes, shards } = await victims();
  expect(nodes).toHaveLength(2);
  const away = KEYS.filter((key) => shards.has(shardOfKey(key)));
  const others = KEYS.filter((key) => !shards.has(shardOfKey(key)));
  await until('all to be served at first', () => areServed(KEYS));

  for (const node of nodes) node.kill('SIGKILL');
  await until('the others to be served', () => areServed(others));
  expect([...(await codesOf(others))]).toEqual([0]);
  expect([...(await codesOf(away))].filter((code) => code !== 503 && code !== 504)).toEqual([]);
  const ready = new URL('/readyz', service.urlOf());
  await until('the service to be ready', async () => (await statusOf(ready)) === 200);
  const metrics = await until('Redis to be up', async () => {
    const text = await (await fetch(String(service.metricsUrls[0]))).text();
    return /^matter_push_up\{.*server="redis".*\} 1$/m.test(text) && text;
  });
  expect(metrics).not.toMatch(/^matter_push_(queue_waiting|backlog_age_seconds)\{/m);

  await Promise.all(nodes.map((node) => node.restart()));
  await cluster.whole();
  await until('all to be served', () => areServed(KEYS));
});
