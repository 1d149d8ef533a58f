/** The matters that a search has loaded: page by page, the last changed first, each once. */
import { ask } from './ask.js';
import { useEffect, useRef, useState } from './lib/hooks.js';
import { lookOn } from './look-on.js';
import { eachOnce } from './matter-question.js';
import { route } from './route.js';

/** @typedef {import('./matter-shapes').Matter} Matter */
/** @typedef {import('./matter-shapes').MattersPage} MattersPage */
/**
 * @typedef {Pick<Matter, 'externalId' | 'title' | 'matterType' | 'phase' | 'bizStatus' | 'externalStatusLabel' |
 *   'updatedAt'> & { readonly parties: number, readonly unread: number }} MatterRow
 */

/** Rows that are kept; some hundred bytes each. */
export const MAX_MATTERS = 50_000;
const PAGE = 100;

/** Of what is listed only what is shown is kept. @param {Matter} matter @returns {MatterRow} */
const rowOf = ({ parties, ...matter }) => ({
  externalId: matter.externalId,
  title: matter.title,
  matterType: matter.matterType,
  phase: matter.phase,
  bizStatus: matter.bizStatus,
  externalStatusLabel: matter.externalStatusLabel,
  updatedAt: matter.updatedAt,
  parties: parties.length,
  unread: parties.filter(({ unread }) => unread).length,
});

/**
 * `isPaused`: so many pages were empty that somebody has to say whether it is to go on.
 *
 * @type {{ rows: readonly MatterRow[], cursor: string | null, isLoading: boolean, isPaused: boolean, error?: unknown }}
 */
const NONE = { rows: [], cursor: null, isLoading: false, isPaused: false };

/** @param {Record<string, unknown> | undefined} question of matters/query; undefined: none yet */
export function useMatterList(question) {
  const asked = question && JSON.stringify([question, route.value.params.lang]);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState(NONE);
  const stop = useRef(new AbortController());
  const isBusy = useRef(false);

  /** Until something is found, or enough was looked at. @param {typeof NONE} before */
  const load = async (before) => {
    const { signal } = stop.current;
    isBusy.current = true;
    const readPage = async (/** @type {typeof NONE} */ { rows, cursor, ...at }) => {
      const body = { ...question, newestFirst: true, limit: PAGE, cursor };
      const page = /** @type {MattersPage} */ (await ask('matters/query', body, signal));
      const all = eachOnce([...rows, ...page.matters.map(rowOf)]).slice(0, MAX_MATTERS);
      return {
        list: { ...at, rows: all, cursor: page.nextCursor },
        isDone: page.matters.length > 0 || page.nextCursor === null,
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
