/** Groups, and the partitions that carry them; all processes of a deployment must agree on it. */
import fc from 'fast-check';
import { groupOf } from '../../../src/domain/group';
import {
  partitionOf,
  partitionsOf,
  placeOf,
  shardOf,
  startPartitioning,
  wantedCount,
} from '../../../src/queue/partitioning';

const codes = fc.string({ unit: 'grapheme', maxLength: 20 });

test('different keys are different groups', () => {
  fc.assert(
    fc.property(codes, codes, codes, codes, (s1, e1, s2, e2) => {
      expect(groupOf(s1, e1) === groupOf(s2, e2)).toBe(s1 === s2 && e1 === e2);
    }),
  );
  expect(groupOf('A', 'B/C')).not.toBe(groupOf('A/B', 'C'));
  expect(groupOf('A', ':B')).not.toBe(groupOf('A:', 'B'));
});

const shardCounts = fc.integer({ min: 1, max: 64 });
const partitionings = fc.record({
  first: fc.integer({ min: 0, max: 10_000 }),
  count: fc.integer({ min: 1, max: 4_096 }),
});

test('every group has one partition, which tells its shard, however many there are', () => {
  fc.assert(
    fc.property(codes, codes, shardCounts, partitionings, (system, id, shards, now) => {
      const place = placeOf(groupOf(system, id), shards);
      const partition = partitionOf(place, now, shards);
      expect(partitionsOf(now, place.shard, shards)).toContain(partition);
      expect(shardOf(partition, shards)).toBe(place.shard);
    }),
  );
});

test('a number is never that of two partitions, of whatever shard, before or after a change', () => {
  const [before, after] = [
    { first: 0, count: 4 },
    { first: 4, count: 8 },
  ];
  const numbers = [0, 1, 2].flatMap((shard) => [
    ...partitionsOf(before, shard, 3),
    ...partitionsOf(after, shard, 3),
  ]);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test.each([
  [1, 32],
  [8, 64],
])('keys spread over %d shards and %d partitions about evenly', (shards, inAll) => {
  const now = { first: 0, count: inAll / shards };
  const counts = new Array(inAll).fill(0);
  for (let n = 0; n < 32_000; n += 1)
    counts[partitionOf(placeOf(groupOf('OA', `A-${n}`), shards), now, shards)] += 1;
  for (const count of counts) expect(count / (32_000 / inAll)).toBeGreaterThan(0.7);
});

test('the partitions of known keys never change without a new format of the queue', () => {
  // CRC-32 of the key, computed by Python's zlib.crc32: modulo 32, and with 8 shards modulo 8 and the rest modulo 4.
  const groups = [groupOf('OA', 'A-1'), groupOf('HR', '请假-7 🚀')];
  const at = (shards: number) =>
    groups.map((group) => partitionOf(placeOf(group, shards), startPartitioning(shards), shards));
  expect(at(1)).toEqual([5, 24]);
  expect(at(8)).toEqual([5, 24]);
});

test('the number of partitions follows the workers, between bounds', () => {
  expect([0, 1, 2, 3, 4, 8, 64, 1_000].map((workers) => wantedCount(workers, 1))).toEqual([
    32, 32, 32, 64, 64, 128, 1_024, 4_096,
  ]);
  expect(wantedCount(4, 8)).toBe(8);
  expect(wantedCount(1_000, 64)).toBe(64);
});

test.each([1, 2, 3, 5, 6, 8, 12, 64])(
  'with %d shards, more partitions are a multiple of those before',
  (shards) => {
    const counts = [1, 3, 6, 12, 25, 50, 100, 300].map((workers) => wantedCount(workers, shards));
    for (const [n, count] of counts.entries()) expect(count % (counts[n - 1] ?? 1)).toBe(0);
  },
);
