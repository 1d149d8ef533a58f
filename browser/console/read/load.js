/** The query of a screen and its state. A changed query is sent again; an answer to an older query is never shown. */

import { useEffect, useState } from 'preact/hooks';
import { route } from '../kit/route.js';
import { ask } from './ask.js';

/** @typedef {{ readonly data?: any, readonly error?: Error, readonly isLoading: boolean, readonly again: () => void }} Asked */

/**
 * @param {string} name of a signed query
 * @param {unknown} body undefined: no query
 * @returns {Asked}
 */
export function useAsk(name, body) {
  const question =
    body === undefined ? undefined : JSON.stringify([name, body, route.value.params.lang]);
  const [answer, setAnswer] = useState(/** @type {any} */ ({}));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (question === undefined) return undefined;
    const stop = new AbortController();
    setAnswer((/** @type {any} */ before) => ({
      ...(before.question === question && before),
      question,
      isLoading: true,
    }));
    ask(name, body, stop.signal).then(
      (data) => setAnswer({ question, data, isLoading: false }),
      (error) => {
        if (!stop.signal.aborted) setAnswer({ question, error, isLoading: false });
      },
    );
    return () => stop.abort();
  }, [question, turn]);
  const again = () => setTurn(turn + 1);
  if (answer.question !== question) return { isLoading: question !== undefined, again };
  const { data, error, isLoading } = answer;
  return { data, error, isLoading, again };
}
