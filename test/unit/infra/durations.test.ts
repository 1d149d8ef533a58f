/** Percentiles of durations that are kept as a few counts. */
import { addDurations, durationBucket, percentile } from '../../../src/infra/durations';

const countsOf = (durations: readonly number[]) => {
  const counts: Record<string, number> = {};
  for (const ms of durations) addDurations(counts, { [durationBucket(ms)]: 1 });
  return counts;
};

test.each([1, 7, 42, 480, 9_999, 120_000])('%i ms is told to within 15 %%', (ms) => {
  const counts = countsOf(Array.from({ length: 9 }, () => ms));
  for (const share of [0.01, 0.5, 0.95, 1]) {
    const told = percentile(counts, share) ?? 0;
    expect(Math.abs(told - ms) / ms).toBeLessThan(0.151);
  }
});

test('half are faster than p50, and one in twenty is slower than p95', () => {
  const counts = countsOf(Array.from({ length: 1_000 }, (_, index) => index + 1));
  expect((percentile(counts, 0.5) ?? 0) / 500).toBeCloseTo(1, 0);
  expect(Math.abs((percentile(counts, 0.95) ?? 0) / 950 - 1)).toBeLessThan(0.1);
});

test('no durations have no percentile, and clocks that are set back give the shortest', () => {
  expect(percentile({}, 0.5)).toBeUndefined();
  expect(durationBucket(-5)).toBe(0);
  expect(durationBucket(Number.NaN)).toBe(0);
  expect(percentile(countsOf([0]), 0.95)).toBeLessThan(1);
});
