/** The pushes that a screen has loaded: page by page, the newest first, and what comes in as it comes. */
import { ask } from './ask.js';
import { useEffect, useRef, useState } from './lib/hooks.js';
import { lookOn } from './look-on.js';
import { MAX_ROWS, NONE, withOlder } from './push-rows.js';
import { newestOf, withNewest } from './push-tail.js';
import { route } from './route.js';

/** @typedef {import('./push-rows.js').AskPage} AskPage */
/** @typedef {import('./push-rows.js').PushList} PushList */
/** @typedef {import('./push-rows.js').Question} Question */

const PAGE = 200;
/** Milliseconds between two looks where it is live. */
const LIVE = 3_000;
/** Milliseconds after a look in which more may have come than the next one looks at. */
const LONG = 30_000;

/**
 * @param {readonly Question[] | undefined} questions undefined: none yet
 * @param {boolean} isLive whether what comes is shown as it comes
 */
export function usePushList(questions, isLive) {
  const asked = questions && JSON.stringify([questions, route.value.params.lang]);
  const [turn, setTurn] = useState(0);
  const [list, setList] = useState(NONE);
  const stop = useRef(new AbortController());
  const isBusy = useRef(false);
  /** Somebody asked for more while the live list looked for what is new. */
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
  /** Until something is found, or enough was looked at. @param {PushList} before */
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
  /** What was looked at before an error is not looked at again. */
  const again = () => (list.open.length > 0 ? more() : setTurn(turn + 1));
  return { ...list, more, again };
}
