/** The rate of a client in its record. */

import { checkRateOverride, type RateOverride } from '../../../src/storage/directory/rate-override';

test.each<[RateOverride]>([[{}], [{ rate: 0 }], [{ rate: 1_000_000, burst: 1 }], [{ burst: 1e6 }]])(
  '%j may stand in a record',
  (limit) => {
    expect(checkRateOverride(limit)).toEqual(limit);
  },
);

test.each([
  [{ rate: -1 }],
  [{ rate: 1.5 }],
  [{ rate: 1_000_001 }],
  [{ rate: '5' }],
  [{ rate: null }],
  [{ rate: Number.NaN }],
  [{ burst: 0 }],
  [{ burst: 1_000_001 }],
  [{ rate: 5, burst: {} }],
])('%j may not', (limit) => {
  expect(() => checkRateOverride(limit as unknown as RateOverride)).toThrow(RangeError);
});
