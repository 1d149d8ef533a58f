/** The failed matters that a screen has loaded: page by page up to a bound, and further where somebody asks. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { route } from '../../kit/route.js';
import { ask } from '../../read/ask.js';
import { withOlder } from '../../read/failure-groups.js';

/** @typedef {import('../../read/shapes').FailedRow} FailedRow */
/** @typedef {import('../../read/shapes').FailuresPage} FailuresPage */
/**
 * @typedef {object} FailureList
 * @property {readonly FailedRow[]} rows
 * @property {string | null} next where there are more
 * @property {number} refusedBatches
 * @property {number} notRecorded
 * @property {boolean} isLoading
 * @property {unknown} [error]
 */

const PAGE = 500;
/** Pages that are read in one go. */
const PAGES = 40;

/** @type {FailureList} */
const NONE = { rows: [], next: null, refusedBatches: 0, notRecorded: 0, isLoading: true };

/**
 * @param {Record<string, unknown> | undefined} question of push-logs/failures; undefined: none yet
 */
export function useFailureList(question) {
  const asked = question && JSON.stringify([question, route.value.params.lang]);
  const [list, setList] = useState(NONE);
  const [turn, setTurn] = useState(0);
  const stop = useRef(new AbortController());

  /** @param {FailureList} from */
  const load = async (from) => {
    const { signal } = stop.current;
    let loaded = from;
    try {
      for (let pages = 0; pages < PAGES; pages += 1) {
        const cursor = loaded.next === null ? {} : { cursor: loaded.next };
        const page = await ask(
          'push-logs/failures',
          { ...question, limit: PAGE, ...cursor },
          signal,
        );
        loaded = withPage(loaded, page);
        setList(loaded);
        if (loaded.next === null) break;
      }
      setList({ ...loaded, isLoading: false });
    } catch (error) {
      if (!signal.aborted) setList({ ...loaded, isLoading: false, error });
    }
  };
  useEffect(() => {
    stop.current = new AbortController();
    setList(NONE);
    if (question) void load(NONE);
    return () => stop.current.abort();
  }, [asked, turn]);
  const more = () => {
    const from = { ...list, isLoading: true, error: undefined };
    setList(from);
    void load(from);
  };
  return { ...list, more, again: () => setTurn(turn + 1) };
}

/** @param {FailureList} list @param {FailuresPage} page @returns {FailureList} */
const withPage = ({ rows, next, refusedBatches, notRecorded }, page) => ({
  rows: withOlder(rows, page.rows),
  next: page.nextCursor,
  refusedBatches: refusedBatches + page.refusedBatches,
  // Of the whole window, on every page.
  notRecorded: next === null ? page.notRecorded : notRecorded,
  isLoading: true,
});
