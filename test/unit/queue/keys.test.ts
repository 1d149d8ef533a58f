/** The names in Redis: what workers of one FORMAT alone may touch, and what all versions share. */
import { createRedisKeys, PARTITION_JOB_QUEUE } from '../../../src/queue/keys';

const FORMAT = PARTITION_JOB_QUEUE.replace(/^\D*/, '');

test.each([1, 8])('with %d shards, workers of two formats share no partition and no count', (n) => {
  const keys = createRedisKeys('test', n);
  const own = [
    ...[keys.partition(0), keys.partitionPrefix(0), keys.partitionBytes(0), keys.owners(0)],
    ...[keys.partitioning(0), keys.draining(0), keys.sweep(0)],
    ...[keys.workers, keys.workerHeartbeats],
  ];
  for (const name of own) expect(name.split(':')).toContain(FORMAT);
});

test('what they must share has one name: ids, the number of shards, signatures and rates', () => {
  const keys = createRedisKeys('test');
  const shared = [
    ...[keys.workerNumber(0), keys.shardCount, keys.processes, keys.processHeartbeats],
    ...[keys.signatures('oa', 0), keys.rate('oa'), keys.rejections('oa')],
  ];
  for (const name of shared) expect(name.split(':')).not.toContain(FORMAT);
});
