/**
 * The rate limit of one client. This file must not import the database driver, because `matterctl` loads the driver
 * only to connect to MongoDB.
 */

/** RATE_LIMIT and RATE_BURST are the defaults. */
export interface RateOverride {
  /** Pushes per second; 0: no limit. */
  rate?: number;
  /** Number of pushes that the client may send at once. */
  burst?: number;
}

/** The same bounds as for RATE_LIMIT and RATE_BURST. */
export const RATE_BOUNDS = { rate: [0, 1_000_000], burst: [1, 1_000_000] } as const;

/** @throws RangeError if `rate` or `burst` is invalid */
export function checkRateOverride({ rate, burst }: RateOverride): RateOverride {
  return {
    ...(rate !== undefined && { rate: checked('rate', rate) }),
    ...(burst !== undefined && { burst: checked('burst', burst) }),
  };
}

function checked(part: keyof typeof RATE_BOUNDS, value: number): number {
  const [min, max] = RATE_BOUNDS[part];
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new RangeError(`the ${part} must be a whole number from ${min} to ${max}`);
}
