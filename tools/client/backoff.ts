/** The wait before a retry. */

/** Upper bounds of the random wait, in milliseconds: of the first retry, and of all retries. */
const FIRST_WAIT = 400;
const LONGEST_WAIT = 30_000;

/**
 * A random wait below a bound that doubles with each retry ("full jitter"), so that calls that failed together are not
 * retried together. The wait that the service requires is added.
 *
 * @param retry number of the retry, from 1
 * @param atLeast milliseconds that the service requires
 * @param random returns a number from 0 to 1
 * @returns milliseconds
 */
export function backoff(retry: number, atLeast = 0, random: () => number = Math.random): number {
  return atLeast + random() * Math.min(FIRST_WAIT * 2 ** (retry - 1), LONGEST_WAIT);
}
