/** Matters that are missing here and are probably here under another id: nothing is sent for them. Pure. */
import { createDoubtFinder, isExponent } from '../../../../src/queries/reconcile/doubts';
import { doubtDifference } from '../../../../src/queries/reconcile/find';

/** @typedef {import('./compare.js').Difference} Difference */
/** @typedef {import('./file-rows.js').Source} Source */

/** A test for differences of a kind. @param {string} kind */
export const isOf =
  (kind) =>
  (/** @type {Pick<Difference, 'kinds'>} */ { kinds }) =>
    kinds.some((it) => it === kind);

/** @param {readonly { readonly externalId: string }[]} open */
export const openIds = (open) => open.map(({ externalId }) => externalId);

/**
 * @param {readonly Difference[]} rows
 * @param {Pick<Source, 'matters' | 'ids'>} source
 * @param {readonly string[]} open what is open here and not in the file
 * @returns {Difference[]} in the order of the file
 */
export function withDoubts(rows, { matters, ids }, open) {
  const doubtOf = createDoubtFinder(ids, open);
  const known = new Map(rows.map((row) => [row.externalId, row]));
  return matters.flatMap((matter) => {
    const { externalId } = matter.expected;
    const row = known.get(externalId);
    const isMissing = row && isOf('MISSING')(row);
    const doubt = isMissing || isExponent(externalId) ? doubtOf(externalId) : undefined;
    if (!doubt) return row ? [row] : [];
    const { finding, yours, here } = doubtDifference(matter, doubt);
    return [{ externalId, kinds: [finding], yours, here, push: doubt.kind, matter }];
  });
}

/**
 * Whether enough of a file was read to say anything of the whole (contract 9).
 *
 * @param {Pick<Source, 'matters' | 'leftOut'>} source
 * @param {readonly Difference[]} rows
 * @returns {{ unread: number, total: number, isComparable: boolean }}
 */
export function readShare({ matters, leftOut }, rows) {
  const damaged = rows.filter(isOf('DAMAGED_ID')).length;
  const [unread, total] = [leftOut + damaged, matters.length + leftOut];
  return { unread, total, isComparable: unread * 10 <= total };
}
