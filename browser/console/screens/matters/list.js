/** The matters that a search has loaded: page by page, the last changed first, each once. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { route } from '../../kit/route.js';
import { ask } from '../../read/ask.js';
import { lookOn } from '../../read/look-on.js';
import { ENOUGH, MAX_MATTERS, NONE, withPage } from './rows.js';

/** @typedef {import('../../read/matter-shapes').MattersPage} MattersPage */
/** @typedef {import('./rows.js').MatterList} MatterList */

const PAGE = 100;
/** For a search by names, which few matters of a page contain. */
const LARGE_PAGE = 500;

/**
 * @param {Record<string, unknown> | undefined} question of matters/query; undefined: none yet
 * @param {string} words in names
 */
export function useMatterList(question, words) {
  const asked = question && JSON.stringify([question, words, route.value.params.lang]);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState(NONE);
  const stop = useRef(new AbortController());
  const isBusy = useRef(false);

  /** Loads until there are enough matches, or until the limit of a search. @param {MatterList} before */
  const load = async (before) => {
    const { signal } = stop.current;
    isBusy.current = true;
    const search = { words, wanted: before.rows.length + ENOUGH };
    const readPage = async (/** @type {MatterList} */ list) => {
      const limit = words === '' ? PAGE : LARGE_PAGE;
      const body = { ...question, newestFirst: true, limit, cursor: list.cursor };
      const page = /** @type {MattersPage} */ (await ask('matters/query', body, signal));
      return withPage(list, page, search);
    };
    const onEmpty = (/** @type {MatterList} */ at) => {
      if (!signal.aborted) setList({ ...at, isLoading: true });
    };
    try {
      const found = await lookOn(before, readPage, onEmpty);
      if (!signal.aborted) setList(found);
    } catch (error) {
      if (!signal.aborted) setList((at) => ({ ...at, isLoading: false, error }));
    } finally {
      if (!signal.aborted) isBusy.current = false;
    }
  };
  useEffect(() => {
    stop.current = new AbortController();
    setList({ ...NONE, isLoading: true });
    if (question) void load(NONE);
    return () => stop.current.abort();
  }, [asked, turn]);

  const more = () => {
    if (isBusy.current || list.cursor === null || list.rows.length >= MAX_MATTERS) return;
    const { error: _, ...before } = list;
    setList({ ...before, isLoading: true, isPaused: false });
    void load({ ...before, isPaused: false });
  };
  return { ...list, more, again: () => (list.rows.length > 0 ? more() : setTurn(turn + 1)) };
}
