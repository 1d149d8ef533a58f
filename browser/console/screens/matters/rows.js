/** The rows of a search for matters, page by page. Pure. */

import { hasNames } from './question.js';

/** @typedef {import('../../read/matter-shapes').Matter} Matter */
/** @typedef {import('../../read/matter-shapes').MattersPage} MattersPage */
/**
 * @typedef {Pick<Matter, 'externalId' | 'title' | 'matterType' | 'phase' | 'bizStatus' | 'externalStatusLabel' |
 *   'updatedAt'> & { readonly names: readonly string[], readonly parties: number, readonly unread: number }} MatterRow
 */
/**
 * `examined`: matters that the service examined for the pages so far. `isPaused`: the search stopped after many pages
 * with few matches, until the user continues it.
 *
 * @typedef {{ rows: readonly MatterRow[], cursor: string | null, examined: number, isLoading: boolean, isPaused: boolean,
 *   error?: unknown }} MatterList
 */

/** @type {MatterList} */
export const NONE = { rows: [], cursor: null, examined: 0, isLoading: false, isPaused: false };

/** Rows that are kept; some hundred bytes each. */
export const MAX_MATTERS = 50_000;
/** New rows after which a search stops until the user scrolls: more than a screen shows. */
export const ENOUGH = 50;
/** People of a matter whose names its row shows. */
const MAX_NAMES = 3;

/** A row keeps only what the list shows. @param {Matter} matter @returns {MatterRow} */
const rowOf = ({ parties, ...matter }) => ({
  externalId: matter.externalId,
  title: matter.title,
  matterType: matter.matterType,
  phase: matter.phase,
  bizStatus: matter.bizStatus,
  externalStatusLabel: matter.externalStatusLabel,
  updatedAt: matter.updatedAt,
  names: parties.slice(0, MAX_NAMES).map(({ displayName, username }) => displayName || username),
  parties: parties.length,
  unread: parties.filter(({ unread }) => unread).length,
});

/**
 * @param {MatterList} list
 * @param {MattersPage} page the next page of the list
 * @param {{ words: string, wanted: number }} search words in names, and rows with which the search is done
 */
export function withPage(list, page, { words, wanted }) {
  const found = page.matters.filter((matter) => hasNames(matter, words)).map(rowOf);
  const rows = eachOnce([...list.rows, ...found]).slice(0, MAX_MATTERS);
  const examined = list.examined + (page.examined ?? 0);
  return {
    list: { ...list, rows, examined, cursor: page.nextCursor },
    isDone: page.nextCursor === null || rows.length >= Math.min(wanted, MAX_MATTERS),
  };
}

/** A matter that changes while pages are read is on two of them; its first row is the newer one. @template {{ readonly externalId: string }} T @param {readonly T[]} rows */
export function eachOnce(rows) {
  const seen = new Set();
  return rows.filter(({ externalId }) => !seen.has(externalId) && seen.add(externalId));
}
