/** The rows of the list of pushes: each push once, the newest first, up to a limit. Pure. */

/** @typedef {import('../../read/shapes').Entry} Entry */
/** @typedef {import('../../read/shapes').LogPage} LogPage */
/** @typedef {Readonly<Record<string, unknown>>} Question of push-logs/query */
/** @typedef {(question: Question) => Promise<LogPage>} AskPage */
/** @typedef {Pick<Entry, 'requestId' | 'receivedAt' | 'settledAt' | 'operation' | 'externalId' | 'idempotencyKey' | 'state' | 'outcome' | 'reason'>} Row */
/**
 * @typedef {object} PushList
 * @property {readonly Row[]} rows
 * @property {readonly Question[]} open the queries that have older pages
 * @property {import('./tail.js').Gap | undefined} [gap]
 * @property {number} notRecorded
 * @property {boolean} isLoading
 * @property {boolean} isPaused the search stopped after many empty pages, until the user continues it
 * @property {unknown} [error]
 */

/** Rows that are kept; some hundred bytes each. */
export const MAX_ROWS = 100_000;

/** @type {PushList} */
export const NONE = { rows: [], open: [], notRecorded: 0, isLoading: false, isPaused: false };

/** A row keeps only what the list shows. @param {Entry} entry @returns {Row} */
const rowOf = ({
  requestId,
  receivedAt,
  settledAt,
  operation,
  externalId,
  idempotencyKey,
  state,
  outcome,
  reason,
}) => ({
  ...{
    requestId,
    receivedAt,
    settledAt,
    operation,
    externalId,
    idempotencyKey,
    state,
    outcome,
    reason,
  },
});

/** @param {readonly LogPage[]} pages */
export const rowsOf = (pages) => pages.flatMap(({ entries }) => entries.map(rowOf));

/** Ids are in the order of receipt. Of two rows with one id, the later row is the newer state. @param {readonly Row[]} rows */
export function inOrder(rows) {
  const byId = new Map(rows.map((row) => [row.requestId, row]));
  return [...byId.values()].sort((a, b) => (a.requestId < b.requestId ? 1 : -1)).slice(0, MAX_ROWS);
}

/**
 * Appends a page of older rows. If its rows mingle with the loaded ones, as those of several queries can, all rows
 * are sorted.
 *
 * @param {readonly Row[]} rows in order @param {readonly Row[]} older in order
 */
export function appended(rows, older) {
  const [last, first] = [rows.at(-1), older[0]];
  if (last && first && first.requestId >= last.requestId) return inOrder([...rows, ...older]);
  return [...rows, ...older].slice(0, MAX_ROWS);
}

/** The queries that have older pages, with their cursors. @param {readonly Question[]} questions @param {readonly (LogPage | undefined)[]} pages the last one of each */
export const openOf = (questions, pages) =>
  questions.flatMap((question, at) => {
    const cursor = pages[at]?.nextCursor;
    return cursor ? [{ ...question, cursor }] : [];
  });

/** Only first pages count the pushes without an entry. @param {readonly LogPage[]} pages */
export const notRecordedOf = (pages) =>
  pages.reduce((sum, { notRecorded = 0 }) => sum + notRecorded, 0);

/**
 * Adds the next page of each query that has one.
 *
 * @param {PushList} list @param {AskPage} askPage
 * @returns {Promise<{ list: PushList, isDone: boolean }>} `isDone`: there was a match, or it was the last page
 */
export async function withOlder(list, askPage) {
  const pages = await Promise.all(list.open.map(askPage));
  const older = inOrder(rowsOf(pages));
  const open = openOf(list.open, pages);
  const { error: _, ...before } = list;
  return {
    list: {
      ...before,
      rows: appended(list.rows, older),
      open,
      notRecorded: list.notRecorded + notRecordedOf(pages),
    },
    isDone: older.length > 0 || open.length === 0,
  };
}
