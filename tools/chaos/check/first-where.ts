/**
 * Finds where a row turns: the first index below `length` at which `isPast` holds, which must hold
 * at every index after it too; `length` where it holds nowhere.
 */
export function firstWhere(length: number, isPast: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
