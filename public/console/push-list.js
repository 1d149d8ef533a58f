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
 * @param {readonly Record<string, unknown>[] | undefined} questions of push-logs/query; undefined: none yet
 * @param {boolean} isLive whether what comes is shown as it comes
 */
export function usePushList(questions, isLive) {
  const asked = questions && JSON.stringify([questions, route.value.params.lang]);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState(NONE);
  const stop = useRef(new AbortController());
  const isBusy = useRef(false);

  /** @param {readonly Record<string, unknown>[]} bodies @param {(pages: LogPage[]) => void} then */
  const load = async (bodies, then) => {
    const { signal } = stop.current;
    isBusy.current = true;
    try {
      const pages = await Promise.all(
        bodies.map((body) => ask('push-logs/query', { limit: PAGE, ...body }, signal)),
      );
      if (!signal.aborted) then(pages);
    } catch (error) {
      if (!signal.aborted) setList((before) => ({ ...before, error, isLoading: false }));
    } finally {
      if (!signal.aborted) isBusy.current = false;
    }
  };
  useEffect(() => {
    stop.current = new AbortController();
    setList({ ...NONE, isLoading: true });
    if (questions) void load(questions, (pages) => setList(firstOf(questions, pages)));
    return () => stop.current.abort();
  }, [asked, turn]);
  useEffect(() => {
    if (!isLive || !questions) return undefined;
    const timer = setInterval(() => {
      if (document.hidden || isBusy.current) return;
      void load(questions, (pages) => setList((before) => withNewest(before, pages)));
    }, LIVE);
    return () => clearInterval(timer);
  }, [asked, isLive, turn]);

  const more = () => {
    if (isBusy.current || list.open.length === 0 || list.rows.length >= MAX_ROWS) return;
    void load(list.open, (pages) => setList((before) => withOlder(before, pages)));
  };
  return { ...list, more, again: () => setTurn(turn + 1) };
}

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
  rows: inOrder([...rows, ...rowsOf(pages)]),
  open: openOf(open, pages),
  notRecorded,
  isLoading: false,
});

/** @param {typeof NONE} before @param {readonly LogPage[]} pages @returns {typeof NONE} */
const withNewest = ({ rows, open }, pages) => ({
  rows: inOrder([...rows, ...rowsOf(pages)]),
  open,
  notRecorded: pages.reduce((sum, { notRecorded = 0 }) => sum + notRecorded, 0),
  isLoading: false,
});
