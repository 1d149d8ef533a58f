/** The statistic by which the timing benchmark judges. */
import { areaUnderCurve, standardError } from '../../../tools/bench/timing';

test.each<[string, number[], number[], number]>([
  ['the same values', [1, 2, 3], [1, 2, 3], 0.5],
  ['all ties', [1, 1], [1, 1, 1], 0.5],
  ['all slower', [1, 2], [3, 4], 1],
  ['all faster', [3, 4, 5], [1, 2], 0],
  ['three of four pairs', [1, 3], [2, 4], 0.75],
  ['a tie counts half', [1, 2], [2, 3], 0.875],
])('%s', (_what, base, others, area) => {
  expect(areaUnderCurve(base, others)).toBeCloseTo(area, 12);
});

test('a small shift shows in many tries, beyond the bound of the benchmark', () => {
  const base = Array.from({ length: 2_000 }, (_, n) => (n * 0.618_034) % 1);
  expect(Math.abs(areaUnderCurve(base, base) - 0.5)).toBeLessThan(1e-9);
  const slower = base.map((value) => value + 0.05);
  expect(areaUnderCurve(base, slower) - 0.5).toBeGreaterThan(4 * standardError(2_000));
});
