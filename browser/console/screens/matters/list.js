/** The matters that a search has loaded: page by page, the last changed first, each once. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { route } from '../../kit/route.js';
import { ask } from '../../read/ask.js';
import { lookOn } from '../../read/look-on.js';
import { eachOnce, hasWords } from './question.js';

/** @typedef {import('../../read/matter-shapes').Matter} Matter */
/** @typedef {import('../../read/matter-shapes').MattersPage} MattersPage */
/**
 * @typedef {Pick<Matter, 'externalId' | 'title' | 'matterType' | 'phase' | 'bizStatus' | 'externalStatusLabel' |
 *   'updatedAt'> & { readonly names: readonly string[], readonly parties: number, readonly unread: number }} MatterRow
 */

/** Rows that are kept; some hundred bytes each. */
export const MAX_MATTERS = 50_000;
const PAGE = 100;
/** For a search by words, which few matters of a page contain. */
const LARGE_PAGE = 500;
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
 * `isPaused`: the search stopped after many empty pages, until the user continues it.
 *
 * @type {{ rows: readonly MatterRow[], cursor: string | null, isLoading: boolean, isPaused: boolean, error?: unknown }}
 */
const NONE = { rows: [], cursor: null, isLoading: false, isPaused: false };

/**
 * @param {Record<string, unknown> | undefined} question of matters/query; undefined: none yet
 * @param {string} words in the title or in names
 */
export function useMatterList(question, words) {
  const asked = question && JSON.stringify([question, words, route.value.params.lang]);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState(NONE);
  const stop = useRef(new AbortController());
  const isBusy = useRef(false);

  /** Loads until there is a match, or until the limit of a search. @param {typeof NONE} before */
  const load = async (before) => {
    const { signal } = stop.current;
    isBusy.current = true;
    const readPage = async (/** @type {typeof NONE} */ { rows, cursor, ...at }) => {
      const limit = words === '' ? PAGE : LARGE_PAGE;
      const body = { ...question, newestFirst: true, limit, cursor };
      const page = /** @type {MattersPage} */ (await ask('matters/query', body, signal));
      const matches = page.matters.filter((matter) => hasWords(matter, words));
      const all = eachOnce([...rows, ...matches.map(rowOf)]).slice(0, MAX_MATTERS);
      return {
        list: { ...at, rows: all, cursor: page.nextCursor },
        isDone: matches.length > 0 || page.nextCursor === null,
      };
    };
    const onEmpty = (/** @type {typeof NONE} */ at) => {
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
