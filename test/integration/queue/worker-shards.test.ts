/** A worker has a BullMQ worker for each shard; one that has no room must come back once it has some. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pino from 'pino';
import { GroupWorker } from '../../../src/queue/consumer';
import { createPartitionJobs } from '../../../src/queue/jobs';
import { createRedisKeys, shardOf } from '../../../src/queue/keys';
import { openPartitions, ownerCalled } from '../../support/partitions';
import { testServers } from '../../support/service';
import { until } from '../../support/wait';

const SHARDS = 3;
const namespace = `t-${randomBytes(5).toString('hex')}`;
const keys = createRedisKeys(namespace, SHARDS);
const ofEachShard = (nth: number) => Array.from({ length: SHARDS }, (_, n) => nth * SHARDS + n);

test.each([
  ['may hold any number', undefined],
  ['may hold some more', 3 * SHARDS],
])(
  'each shard takes partitions again once its worker %s, also where others stay busy',
  async (_, most) => {
    const { redisUrl } = testServers();
    const redis = new Redis(redisUrl);
    const blocking = new Redis(redisUrl, { maxRetriesPerRequest: null });
    const subscriber = new Redis(redisUrl);
    const jobs = createPartitionJobs(redis, keys);
    const worker = new GroupWorker({
      connection: blocking,
      subscriber,
      keys,
      jobs,
      id: 'w',
      partitions: openPartitions(redis, keys, { pushes: 100, bytes: 2 ** 20 }),
      owner: () => ownerCalled('w'),
      sessionOf: (index) => `session-${index}`,
      batchLimit: 640,
      onAbandoned: () => undefined,
      logger: pino({ level: 'silent' }),
      processBatch: async () => [],
    });
    const isOwned = async (partition: number) =>
      (await redis.hexists(keys.owners(shardOf(partition, SHARDS)), String(partition))) === 1;
    const areHeld = async (partitions: readonly number[]) =>
      (await Promise.all(partitions.map(isOwned))).every(Boolean);
    /** Partitions with traffic are never let go of. */
    const keepBusy = (partitions: readonly number[]) => worker.notify(partitions);
    /** BullMQ names its connections by the queue, whose name begins with the namespace. */
    const waiting = async () => {
      const lines = String(await redis.client('LIST')).split('\n');
      const mine = lines.filter((line) => line.includes(`name={${namespace}`));
      return mine.filter((line) => line.includes(' flags=b ')).length;
    };
    try {
      await jobs.schedule(ofEachShard(0));
      await until('the first ones to be held', () => areHeld(ofEachShard(0)));
      await until('each to wait for the next one', async () => {
        keepBusy(ofEachShard(0));
        return (await waiting()) === SHARDS;
      });
      // No room for more, but what each of BullMQ's workers waits for already. A wait that ends without a job in this
      // moment is not repeated, so not each of the next ones is necessarily held.
      worker.adjustShare(0, SHARDS);
      await jobs.schedule(ofEachShard(1));
      await until('none to wait for more', async () => {
        keepBusy(ofEachShard(0));
        return (await waiting()) === 0;
      });
      await jobs.schedule(ofEachShard(2));
      worker.adjustShare(0, most);
      await until('those that waited for room', async () => {
        keepBusy([...ofEachShard(0), ...ofEachShard(1)]);
        return areHeld([...ofEachShard(1), ...ofEachShard(2)]);
      });
    } finally {
      await worker.close();
      await jobs.close();
      const left = await redis.keys(`{${namespace}*`);
      if (left.length > 0) await redis.del(left);
      for (const one of [redis, blocking, subscriber]) one.disconnect();
    }
  },
);
