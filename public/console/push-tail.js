/** What came since a list of pushes was loaded. Pure. */
import { inOrder, notRecordedOf, openOf, rowsOf } from './push-rows.js';

/** @typedef {import('./push-rows.js').PushList} PushList */
/** @typedef {import('./push-rows.js').Question} Question */
/** @typedef {import('./push-rows.js').AskPage} AskPage */
/** @typedef {import('./shapes').LogPage} LogPage */
/** @typedef {{ readonly read: readonly LogPage[][], readonly left: readonly Question[] }} Look `left`: what did not come to what is known, and is gone on with by these */
/** @typedef {{ readonly questions: readonly Question[], readonly newest: string }} Gap what nobody has looked at: where it begins, and the id at which it ends */

/** Pages of one look at most: nobody reads so many as they come. */
const LIVE_PAGES = 10;
/** Rows with which a list may begin anew: they fill a screen. */
const SCREENFUL = 25;

/**
 * What came since, and a part of what was left out before.
 *
 * @param {readonly Question[]} questions
 * @param {PushList} list
 * @param {AskPage} askPage
 */
export async function newestOf(questions, { rows, gap }, askPage) {
  const look = await lookDown(questions, rows[0]?.requestId ?? '', askPage);
  return { look, filled: gap && (await lookDown(gap.questions, gap.newest, askPage)) };
}

/** Of each question page by page until something known is met. @param {readonly Question[]} questions @param {string} newest id that is known; empty: none is @param {AskPage} askPage @returns {Promise<Look>} */
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
 * Where more came than is read at a time, the list begins anew with what was read, and what is older is loaded as
 * somebody scrolls to it. Where so many pages were all but empty, what is there stays. In the few seconds between two
 * looks no more comes than one of them looks at; after a longer time there is a gap, which the next ones fill.
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
