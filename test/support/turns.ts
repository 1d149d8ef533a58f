/** Whether others have their turn while something works. */

/**
 * Counts turns of the event loop from now on.
 *
 * @returns ends the count, and gives it
 */
export function countTurns(): () => number {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  return () => {
    isOver = true;
    return turns;
  };
}
