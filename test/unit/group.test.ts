/** One function maps matter keys to partitions; all processes of a deployment must agree on it. */
import fc from 'fast-check';
import { groupOf, PARTITIONS, partitionOf } from '../../src/domain/group';

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

test('every group has one partition, always the same', () => {
  fc.assert(
    fc.property(codes, codes, (systemCode, externalId) => {
      const partition = partitionOf(groupOf(systemCode, externalId));
      expect(Number.isInteger(partition) && partition >= 0 && partition < PARTITIONS).toBe(true);
      expect(partitionOf(groupOf(systemCode, externalId))).toBe(partition);
    }),
  );
});

test('keys spread over all partitions about evenly', () => {
  const counts = new Array(PARTITIONS).fill(0);
  for (let n = 0; n < 8_000; n += 1) counts[partitionOf(groupOf('OA', `A-${n}`))] += 1;
  for (const count of counts) expect(count / (8_000 / PARTITIONS)).toBeGreaterThan(0.7);
});

test('the partitions of known keys never change without a new format of the queue', () => {
  // CRC-32 of the key, computed by Python's zlib.crc32, modulo 4.
  expect([groupOf('OA', 'A-1'), groupOf('HR', '请假-7 🚀')].map(partitionOf)).toEqual([1, 0]);
});
