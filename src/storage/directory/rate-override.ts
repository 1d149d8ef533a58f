/** A client's own rate, in place of RATE_LIMIT and RATE_BURST. */

/** What is absent is as in the settings. */
export interface RateOverride {
  /** Pushes per second; 0: no limit. */
  rate?: number;
  /** Pushes that the client may send at once above its rate. */
  burst?: number;
}

/** Those of the settings. */
export const RATE_BOUNDS = { rate: [0, 1_000_000], burst: [1, 1_000_000] } as const;

/** @throws RangeError where a part is not a whole number within its bounds */
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
