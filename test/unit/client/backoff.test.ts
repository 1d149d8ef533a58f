/** Waiting before the next try: full jitter below a bound, never less than the service asked for. */
import fc from 'fast-check';
import { backoff } from '../../../tools/client/backoff';

const BOUNDS = [400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000];

test.each(BOUNDS.map((bound, index) => [index + 1, bound]))(
  'retry %i: anything from nothing to %i ms',
  (retry, bound) => {
    expect(backoff(retry, 0, () => 0)).toBe(0);
    expect(backoff(retry, 0, () => 1)).toBe(bound);
  },
);

test('whatever the dice say, it lies between what was asked for and the bound above it', () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 200 }),
    fc.nat(300_000),
    (retry, asked) => {
      const wait = backoff(retry, asked);
      expect(wait).toBeGreaterThanOrEqual(asked);
      expect(wait).toBeLessThanOrEqual(asked + 30_000);
    },
  );
  fc.assert(property);
});

test('calls that failed together do not come back together', () => {
  const waits = Array.from({ length: 50 }, () => backoff(5, 1_000));
  expect(new Set(waits).size).toBeGreaterThan(40);
});
