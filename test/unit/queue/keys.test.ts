/** Which partition holds a push, and the names in Redis: what workers of one FORMAT alone may touch, and what all versions share. */
import fc from 'fast-check';
import { groupOf } from '../../../src/domain/matter';
import {
  createRedisKeys,
  PARTITION_JOB_QUEUE,
  partitionOf,
  partitionsOf,
  shardOf,
} from '../../../src/queue/keys';

const FORMAT = PARTITION_JOB_QUEUE.replace(/^\D*/, '');

test.each([1, 8])('with %d shards, workers of two formats share no partition and no count', (n) => {
  const keys = createRedisKeys('test', n);
  const own = [
    ...[keys.partition(0), keys.partitionPrefix(0), keys.partitionBytes(0), keys.owners(0)],
    keys.partitionClients(0),
    keys.sweep(0),
    keys.workers,
  ];
  for (const name of own) expect(name.split(':')).toContain(FORMAT);
});

test('what they must share has one name: ids, the layout, signatures and rates', () => {
  const keys = createRedisKeys('test');
  const shared = [
    ...[keys.workerNumber(0), keys.layout, keys.processes, keys.processHeartbeats],
    ...[keys.signatures('oa', 0), keys.rate('oa')],
  ];
  for (const name of shared) expect(name.split(':')).not.toContain(FORMAT);
});

const codes = fc.string({ unit: 'grapheme', maxLength: 20 });
const layouts = fc.record({
  shards: fc.integer({ min: 1, max: 64 }),
  partitions: fc.integer({ min: 1, max: 1_024 }),
});

test('every group has one partition, whose number gives its shard', () => {
  fc.assert(
    fc.property(codes, codes, layouts, (system, id, layout) => {
      const partition = partitionOf(groupOf(system, id), layout);
      const shard = shardOf(partition, layout.shards);
      expect(partitionsOf(shard, layout)).toContain(partition);
    }),
  );
});

test('no two partitions have the same number', () => {
  const layout = { shards: 3, partitions: 8 };
  const numbers = [0, 1, 2].flatMap((shard) => partitionsOf(shard, layout));
  expect(new Set(numbers).size).toBe(24);
});

test.each([
  [1, 64],
  [8, 8],
])('keys spread over %d shards with %d partitions about evenly', (shards, partitions) => {
  const inAll = shards * partitions;
  const counts = new Array(inAll).fill(0);
  for (let n = 0; n < 1_000 * inAll; n += 1)
    counts[partitionOf(groupOf('OA', `A-${n}`), { shards, partitions })] += 1;
  for (const count of counts) expect(count / 1_000).toBeGreaterThan(0.7);
});

test('the partitions of known keys never change without a new format of the queue', () => {
  // Computed from CRC-32 of the key by Python's zlib.crc32.
  const groups = [groupOf('OA', 'A-1'), groupOf('HR', '请假-7 🚀')];
  const at = (shards: number) =>
    groups.map((group) => partitionOf(group, { shards, partitions: 64 }));
  expect(at(1)).toEqual([37, 56]);
  expect(at(8)).toEqual([421, 504]);
});
