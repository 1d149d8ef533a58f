/** How long a call waits before its next try. */

/** Milliseconds. */
const FIRST_WAIT = 400;
const LONGEST_WAIT = 30_000;

/**
 * Anything up to a bound that doubles ("full jitter"), so that calls which failed together do not
 * come back together, and never less than the service asked for.
 *
 * @param retry from 1
 * @param atLeast what the service asked for, in milliseconds
 * @param random from 0 to 1
 */
export function backoff(retry: number, atLeast = 0, random: () => number = Math.random): number {
  return atLeast + random() * Math.min(FIRST_WAIT * 2 ** (retry - 1), LONGEST_WAIT);
}
