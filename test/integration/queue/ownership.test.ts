/** Whether a worker holds partitions is answered by a server that may take writes, or by none. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { createRedisKeys } from '../../../src/queue/keys';
import { type RunningServer, startRedis } from '../../../tools/local/servers';
import { aPush } from '../../support/builders';
import { openPartitions, partitionOfKey, take } from '../../support/partitions';

const dir = mkdtempSync(path.join(tmpdir(), 'matter-push-ownership-'));
const keys = createRedisKeys('ownership');
const KEY = { clientId: 'tester', systemCode: 'S', externalId: 'E' };
const push = aPush(KEY);

let server: RunningServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis({ dir });
  redis = new Redis(server.url);
}, 60_000);
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('a primary that lost its replicas, or became a replica, does not confirm it; one that is full does', async () => {
  const partitions = openPartitions(redis, keys, { pushes: 4, bytes: 1_000 });
  await partitions.append(0, [{ push, timeout: 60_000 }]);
  const batch = await take(partitions, [partitionOfKey(KEY.systemCode, KEY.externalId)], 'a');
  expect(await partitions.isOwned(batch)).toBe(true);

  await redis.config('SET', 'maxmemory', '1');
  expect(await partitions.isOwned(batch)).toBe(true);
  await redis.config('SET', 'maxmemory', '0');

  await redis.config('SET', 'min-replicas-to-write', '1');
  await expect(partitions.isOwned(batch)).rejects.toThrow('NOREPLICAS');
  await redis.config('SET', 'min-replicas-to-write', '0');

  await redis.replicaof('127.0.0.1', '1');
  await expect(partitions.isOwned(batch)).rejects.toThrow('READONLY');
  await redis.replicaof('NO', 'ONE');
  expect(await partitions.isOwned(batch)).toBe(true);
}, 60_000);
