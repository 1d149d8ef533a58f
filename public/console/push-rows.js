/** Pushes that a screen holds: each once, the newest first, and not without a bound. Pure. */

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').LogPage} LogPage */
/** @typedef {Readonly<Record<string, unknown>>} Question of push-logs/query */
/** @typedef {(question: Question) => Promise<LogPage>} AskPage */
/** @typedef {Pick<Entry, 'requestId' | 'receivedAt' | 'settledAt' | 'operation' | 'externalId' | 'idempotencyKey' | 'state' | 'outcome' | 'reason'>} Row */
/**
 * @typedef {object} PushList
 * @property {readonly Row[]} rows
 * @property {readonly Question[]} open those of which there are older pages
 * @property {import('./push-tail.js').Gap | undefined} [gap]
 * @property {number} notRecorded
 * @property {boolean} isLoading
 * @property {boolean} isPaused so many pages were empty that somebody has to say whether it goes on
 * @property {unknown} [error]
 */

/** Rows that are kept; some hundred bytes each. */
export const MAX_ROWS = 100_000;

/** @type {PushList} */
export const NONE = { rows: [], open: [], notRecorded: 0, isLoading: false, isPaused: false };

/** Of what is listed only what is shown is kept. @param {Entry} entry @returns {Row} */
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

/** Ids are in the order of receipt. Of two of one id the later one is the newer word. @param {readonly Row[]} rows */
export function inOrder(rows) {
  const byId = new Map(rows.map((row) => [row.requestId, row]));
  return [...byId.values()].sort((a, b) => (a.requestId < b.requestId ? 1 : -1)).slice(0, MAX_ROWS);
}

/**
 * A page that is older than all that is there is put behind it; only where they mingle, as those of several
 * questions may, all are sorted.
 *
 * @param {readonly Row[]} rows in order @param {readonly Row[]} older in order
 */
export function appended(rows, older) {
  const [last, first] = [rows.at(-1), older[0]];
  if (last && first && first.requestId >= last.requestId) return inOrder([...rows, ...older]);
  return [...rows, ...older].slice(0, MAX_ROWS);
}

/** Those of which there are older pages. @param {readonly Question[]} questions @param {readonly (LogPage | undefined)[]} pages the last one of each */
export const openOf = (questions, pages) =>
  questions.flatMap((question, at) => {
    const cursor = pages[at]?.nextCursor;
    return cursor ? [{ ...question, cursor }] : [];
  });

/** First pages alone tell of what has no entry. @param {readonly LogPage[]} pages */
export const notRecordedOf = (pages) =>
  pages.reduce((sum, { notRecorded = 0 }) => sum + notRecorded, 0);

/**
 * With the next page of each question that is open.
 *
 * @param {PushList} list @param {AskPage} askPage
 * @returns {Promise<{ list: PushList, isDone: boolean }>} `isDone`: something was found, or it is the end
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
