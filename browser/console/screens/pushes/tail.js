/** Live updates: the pushes that arrived since the list was loaded. Pure. */
import { inOrder, notRecordedOf, openOf, rowsOf } from './rows.js';

/** @typedef {import('./rows.js').PushList} PushList */
/** @typedef {import('./rows.js').Question} Question */
/** @typedef {import('./rows.js').AskPage} AskPage */
/** @typedef {import('../../read/shapes').LogPage} LogPage */
/** @typedef {{ readonly read: readonly LogPage[][], readonly left: readonly Question[] }} Look `left`: the queries that did not reach a known push, with which a later update continues */
/** @typedef {{ readonly questions: readonly Question[], readonly newest: string }} Gap the pushes that no update has read: the queries at its start, and the known id at its end */

/** Pages of one update, at most. */
const LIVE_PAGES = 10;
/** Rows that fill a screen: with as many, the list may start again. */
const SCREENFUL = 25;

/**
 * Reads the new pushes, and a part of the gap of earlier updates.
 *
 * @param {readonly Question[]} questions
 * @param {PushList} list
 * @param {AskPage} askPage
 */
export async function newestOf(questions, { rows, gap }, askPage) {
  const look = await lookDown(questions, rows[0]?.requestId ?? '', askPage);
  return { look, filled: gap && (await lookDown(gap.questions, gap.newest, askPage)) };
}

/** Reads each query page by page until it reaches a known push. @param {readonly Question[]} questions @param {string} newest id that is known; empty: none is @param {AskPage} askPage @returns {Promise<Look>} */
async function lookDown(questions, newest, askPage) {
  const left = /** @type {Question[]} */ ([]);
  const read = await Promise.all(
    questions.map(async (question) => {
      /** @type {LogPage[]} */
      const pages = [];
      let body = question;
      while (pages.length < LIVE_PAGES) {
        const page = await askPage(body);
        pages.push(page);
        const last = page.entries.at(-1)?.requestId;
        if (!page.nextCursor || (last !== undefined && last <= newest)) return pages;
        body = { ...question, cursor: page.nextCursor };
      }
      left.push(body);
      return pages;
    }),
  );
  return { read, left };
}

/**
 * If more pushes arrived than one update reads, the list starts again with the new ones, and scrolling loads older ones.
 * If those pages had too few matches, the list keeps its rows. After a long pause a gap remains, and later updates fill it.
 *
 * @param {readonly Question[]} questions
 * @param {PushList} before
 * @param {Awaited<ReturnType<typeof newestOf>>} found
 * @param {boolean} wasAway whether the look before was long ago
 * @returns {PushList}
 */
export function withNewest(questions, before, { look, filled }, wasAway) {
  const newer = rowsOf(look.read.flat());
  const isWhole = look.left.length === 0;
  const isKnown = before.rows.length > 0;
  const isAnew = isKnown ? !isWhole && newer.length >= SCREENFUL : isWhole || newer.length > 0;
  const notRecorded = notRecordedOf(look.read.flatMap((pages) => pages.slice(0, 1)));
  const now = { notRecorded, isLoading: false };
  if (isAnew) {
    const oldest = look.read.map((pages) => pages.at(-1));
    return { ...now, rows: inOrder(newer), open: openOf(questions, oldest), isPaused: false };
  }
  const { rows, open, isPaused, gap, error } = before;
  const end = gap?.newest ?? rows[0]?.requestId ?? '';
  const left = wasAway && isKnown && !isWhole ? look.left : (filled?.left ?? []);
  return {
    ...now,
    rows: inOrder([...rows, ...newer, ...rowsOf(filled?.read.flat() ?? [])]),
    open,
    isPaused,
    ...(error !== undefined && { error }),
    gap: left.length > 0 ? { questions: left, newest: end } : undefined,
  };
}
