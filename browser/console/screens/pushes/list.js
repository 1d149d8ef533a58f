/** The loaded pushes of a screen, the newest first: page by page, and new ones as they arrive. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { route } from '../../kit/route.js';
import { ask } from '../../read/ask.js';
import { lookOn } from '../../read/look-on.js';
import { MAX_ROWS, NONE, withOlder } from './rows.js';
import { newestOf, withNewest } from './tail.js';

/** @typedef {import('./rows.js').AskPage} AskPage */
/** @typedef {import('./rows.js').PushList} PushList */
/** @typedef {import('./rows.js').Question} Question */

const PAGE = 200;
/** Milliseconds between two live updates. */
const LIVE = 3_000;
/** Milliseconds after which more pushes may have arrived than one live update reads. */
const LONG = 30_000;

/**
 * @param {readonly Question[] | undefined} questions undefined: none yet
 * @param {boolean} isLive whether new pushes appear as they arrive
 */
export function usePushList(questions, isLive) {
  const asked = questions && JSON.stringify([questions, route.value.params.lang]);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState({ ...NONE, isLoading: true });
  const stop = useRef(new AbortController());
  const isBusy = useRef(false);
  /** The user scrolled to the end during a live update. */
  const wantsMore = useRef(false);
  const isLooking = useRef(false);
  const known = useRef(list);
  known.current = list;
  const lookedAt = useRef(0);

  /** @template T @param {(askPage: AskPage) => Promise<T>} read @param {(found: T) => void} then */
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
  /** Loads until there is a match, or until the limit of a search. @param {PushList} before */
  const loadOlder = (before) => {
    setList({ ...before, isLoading: true });
    const { signal } = stop.current;
    const onEmpty = (/** @type {PushList} */ at) => {
      if (!signal.aborted) setList({ ...at, isLoading: true });
    };
    void load((askPage) => lookOn(before, (at) => withOlder(at, askPage), onEmpty), setList);
  };
  useEffect(() => {
    stop.current = new AbortController();
    lookedAt.current = Date.now();
    if (questions) loadOlder({ ...NONE, open: questions });
    else setList({ ...NONE, isLoading: true });
    return () => stop.current.abort();
  }, [asked, turn]);
  useEffect(() => {
    if (!isLive || !questions) return undefined;
    const timer = setInterval(() => {
      if (document.hidden || isBusy.current) return;
      const wasAway = Date.now() - lookedAt.current > LONG;
      const at = Date.now();
      isLooking.current = true;
      void load(
        (askPage) => newestOf(questions, known.current, askPage),
        (found) => {
          lookedAt.current = at;
          setList((before) => withNewest(questions, before, found, wasAway));
        },
      ).finally(() => {
        isLooking.current = false;
      });
    }, LIVE);
    return () => clearInterval(timer);
  }, [asked, isLive, turn]);

  const more = () => {
    if (list.open.length === 0 || list.rows.length >= MAX_ROWS) return;
    wantsMore.current = isLooking.current;
    if (isBusy.current) return;
    const { error: _, ...before } = list;
    loadOlder({ ...before, isPaused: false });
  };
  useEffect(() => {
    if (wantsMore.current && !isBusy.current) more();
  }, [list]);
  /** After an error, the search continues where it stopped. */
  const again = () => (list.open.length > 0 ? more() : setTurn(turn + 1));
  return { ...list, more, again };
}
