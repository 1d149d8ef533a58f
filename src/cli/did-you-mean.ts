/** The known word that a mistyped one most likely stands for. */

/** A word may differ from the one that was meant in this share of its letters. */
const MOST = 0.4;

/** @returns the nearest of `known`; undefined where none is near */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, edits: editsBetween(word, candidate) }))
    .sort((a, b) => a.edits - b.edits);
  const [best] = ranked;
  return best && best.edits <= MOST * best.candidate.length ? best.candidate : undefined;
}

/** Letters to insert, drop or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let before = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (before[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      now.push(Math.min(replaced, (before[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1));
    }
    before = now;
  }
  return before[to.length] ?? 0;
}
