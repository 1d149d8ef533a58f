/** The pushes that a screen has loaded: page by page, the newest first, each once, and not without a bound. */
import { ask } from './ask.js';
import { useEffect, useRef, useState } from './lib/hooks.js';
import { route } from './route.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').LogPage} LogPage */
/** @typedef {Pick<Entry, 'requestId' | 'receivedAt' | 'settledAt' | 'operation' | 'externalId' | 'idempotencyKey' | 'state' | 'outcome' | 'reason'>} Row */

/** Rows that are kept; some hundred bytes each. */
export const MAX_ROWS = 100_000;
const PAGE = 200;
/** Milliseconds between two looks where it is live. */
const LIVE = 3_000;
/** Pages of one such look at most: nobody reads so many as they come. */
const LIVE_PAGES = 10;

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

/**
 * @param {readonly Record<string, unknown>[] | undefined} questions of push-logs/query; undefined: none yet
 * @param {boolean} isLive whether what comes is shown as it comes
 */
export function usePushList(questions, isLive) {
  const asked = questions && JSON.stringify([questions, route.value.params.lang]);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState(NONE);
  const stop = useRef(new AbortController());
  const isBusy = useRef(false);
  const known = useRef(list.rows);
  known.current = list.rows;

  /**
   * @template T
   * @param {(askPage: (body: Record<string, unknown>) => Promise<LogPage>) => Promise<T>} read
   * @param {(found: T) => void} then
   */
  const load = async (read, then) => {
    const { signal } = stop.current;
    isBusy.current = true;
    try {
      const found = await read((body) => ask('push-logs/query', { limit: PAGE, ...body }, signal));
      if (!signal.aborted) then(found);
    } catch (error) {
      if (!signal.aborted) setList((before) => ({ ...before, error, isLoading: false }));
    } finally {
      if (!signal.aborted) isBusy.current = false;
    }
  };
  useEffect(() => {
    stop.current = new AbortController();
    setList({ ...NONE, isLoading: true });
    if (questions) void load(eachOf(questions), (pages) => setList(firstOf(questions, pages)));
    return () => stop.current.abort();
  }, [asked, turn]);
  useEffect(() => {
    if (!isLive || !questions) return undefined;
    const timer = setInterval(() => {
      if (document.hidden || isBusy.current) return;
      const newest = known.current[0]?.requestId ?? '';
      void load(
        (askPage) => newestOf(questions, newest, askPage),
        (found) => setList((before) => withNewest(questions, before, found)),
      );
    }, LIVE);
    return () => clearInterval(timer);
  }, [asked, isLive, turn]);

  const more = () => {
    if (isBusy.current || list.open.length === 0 || list.rows.length >= MAX_ROWS) return;
    void load(eachOf(list.open), (pages) => setList((before) => withOlder(before, pages)));
  };
  return { ...list, more, again: () => setTurn(turn + 1) };
}

/** @param {readonly Record<string, unknown>[]} bodies */
const eachOf =
  (bodies) => (/** @type {(body: Record<string, unknown>) => Promise<LogPage>} */ askPage) =>
    Promise.all(bodies.map(askPage));

/** @type {{ rows: readonly Row[], open: readonly Record<string, unknown>[], notRecorded: number, isLoading: boolean, error?: unknown }} */
const NONE = { rows: [], open: [], notRecorded: 0, isLoading: false };

/** Those of which there are older pages. @param {readonly Record<string, unknown>[]} questions @param {readonly LogPage[]} pages */
const openOf = (questions, pages) =>
  questions.flatMap((question, at) => {
    const cursor = pages[at]?.nextCursor;
    return cursor ? [{ ...question, cursor }] : [];
  });

const rowsOf = (/** @type {readonly LogPage[]} */ pages) =>
  pages.flatMap(({ entries }) => entries.map(rowOf));

/** @param {readonly Record<string, unknown>[]} questions @param {readonly LogPage[]} pages @returns {typeof NONE} */
const firstOf = (questions, pages) => ({
  rows: inOrder(rowsOf(pages)),
  open: openOf(questions, pages),
  notRecorded: pages.reduce((sum, { notRecorded = 0 }) => sum + notRecorded, 0),
  isLoading: false,
});

/** @param {typeof NONE} before @param {readonly LogPage[]} pages @returns {typeof NONE} */
const withOlder = ({ rows, open, notRecorded }, pages) => ({
  rows: appended(rows, inOrder(rowsOf(pages))),
  open: openOf(open, pages),
  notRecorded,
  isLoading: false,
});

/**
 * What came since, of each question page by page until something known is met.
 *
 * @param {readonly Record<string, unknown>[]} questions
 * @param {string} newest id that is known; empty: none is
 * @param {(body: Record<string, unknown>) => Promise<LogPage>} askPage
 * @returns {Promise<{ read: LogPage[][], isWhole: boolean }>} `isWhole`: nothing is between it and what is known
 */
export async function newestOf(questions, newest, askPage) {
  let isWhole = true;
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
      isWhole = false;
      return pages;
    }),
  );
  return { read, isWhole };
}

/**
 * Where more came than is read at a time, the list begins anew with what was read: it never has a hole, and what is
 * older is loaded as somebody scrolls to it.
 *
 * @param {readonly Record<string, unknown>[]} questions
 * @param {typeof NONE} before
 * @param {Awaited<ReturnType<typeof newestOf>>} found
 * @returns {typeof NONE}
 */
export function withNewest(questions, { rows, open }, { read, isWhole }) {
  const oldest = read.flatMap((pages) => pages.slice(-1));
  const { notRecorded } = firstOf(
    questions,
    read.flatMap((pages) => pages.slice(0, 1)),
  );
  return {
    rows: inOrder([...(isWhole ? rows : []), ...rowsOf(read.flat())]),
    open: isWhole && rows.length > 0 ? open : openOf(questions, oldest),
    notRecorded,
    isLoading: false,
  };
}
