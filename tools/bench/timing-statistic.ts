/** Whether two samples of times can be told apart. */

/**
 * The probability that a value of `others` is larger than one of `base`, ties counted half
 * (Mann-Whitney U over n·m). 0.5: nothing tells them apart; 1: every single one does.
 */
export function areaUnderCurve(base: readonly number[], others: readonly number[]): number {
  const all = [
    ...base.map((value) => ({ value, isOther: false })),
    ...others.map((value) => ({ value, isOther: true })),
  ].sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let first = 0; first < all.length; ) {
    let end = first;
    while (all[end]?.value === all[first]?.value && end < all.length) end += 1;
    const tied = all.slice(first, end);
    // Ranks count from 1; those who tie share the middle of theirs.
    rankSum += tied.filter(({ isOther }) => isOther).length * ((first + 1 + end) / 2);
    first = end;
  }
  const least = (others.length * (others.length + 1)) / 2;
  return (rankSum - least) / (base.length * others.length);
}

/** Of the area, where both samples of `n` come from the same source. */
export const standardError = (n: number): number => Math.sqrt((2 * n + 1) / (12 * n * n));
