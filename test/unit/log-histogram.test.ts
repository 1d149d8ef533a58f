/** Percentiles of times that were only counted, within a tenth of what they are. */
import { addBuckets, addTime, type Buckets, percentile } from '../../src/processes/log-histogram';

test.each([1, 3, 12, 87, 250, 4_000, 60_000])('a crowd of %d ms is told as such', (ms) => {
  const buckets: Buckets = new Map();
  addTime(buckets, ms, 1_000);
  for (const share of [0.5, 0.95]) {
    const told = percentile(buckets, share) ?? 0;
    expect(Math.abs(told - ms)).toBeLessThanOrEqual(Math.max(1, ms / 10));
  }
});

test('one in twenty that is slow is the p95, and not the p50', () => {
  const [fast, slow]: Buckets[] = [new Map(), new Map()];
  if (!fast || !slow) throw new Error('there are two');
  addTime(fast, 10, 93);
  addTime(slow, 2_000, 7);
  addBuckets(fast, slow);
  expect(percentile(fast, 0.5)).toBeLessThan(12);
  expect(percentile(fast, 0.95)).toBeGreaterThan(1_700);
});

test('nothing has no percentile; what cannot be is zero, and what takes for ever has a bucket', () => {
  const buckets: Buckets = new Map();
  expect(percentile(buckets, 0.5)).toBeNull();
  addTime(buckets, -50);
  expect(percentile(buckets, 0.5)).toBe(0);
  addTime(buckets, 1e12, 10);
  expect(percentile(buckets, 0.5)).toBeGreaterThan(60_000);
  expect(buckets.size).toBe(2);
});
