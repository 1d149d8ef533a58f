/** Reports a repeated event at most once per interval. */

/** Milliseconds. */
const INTERVAL = 60_000;

/**
 * @param tell told at once, and then at most once a minute, with how often it was held back since
 * @param clock milliseconds that never go back
 */
export function throttle(
  tell: (what: string, untold: number) => void,
  clock: () => number,
): (what: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (what) => {
    if (clock() - last < INTERVAL) {
      untold += 1;
      return;
    }
    tell(what, untold);
    last = clock();
    untold = 0;
  };
}
