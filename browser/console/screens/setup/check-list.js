/** The list of the checks; each result appears when its check is done. */

import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { spanText } from '../../kit/parts.js';
import { isEnglish, say, sayWith } from '../../kit/speech.js';
import { Failure, timeText } from '../../read/answer-parts.js';
import { isReady, send } from '../../read/ask.js';
import { runChecks } from './checks.js';
import { SETUP_WORDS } from './words.js';

/** @typedef {import('../../read/setup-shapes').Check} Check */

/** @type {{ checks: readonly Check[], isBusy: boolean, error?: unknown }} */
const NONE = { checks: [], isBusy: true };

function useChecks() {
  const [turn, setTurn] = useState(0);
  const [found, setFound] = useState(NONE);
  // The answers of the service are in the language of the request.
  const language = isEnglish();
  useEffect(() => {
    const stop = new AbortController();
    setFound(NONE);
    const show = (/** @type {Check} */ check) =>
      setFound(({ checks }) => ({ checks: [...checks, check], isBusy: true }));
    follow(stop.signal, show).then(
      () => {
        if (!stop.signal.aborted) setFound(({ checks }) => ({ checks, isBusy: false }));
      },
      (error) => {
        if (!stop.signal.aborted) setFound(({ checks }) => ({ checks, isBusy: false, error }));
      },
    );
    return () => stop.abort();
  }, [turn, language]);
  return { ...found, again: () => setTurn(turn + 1) };
}

/** @param {AbortSignal} signal @param {(check: Check) => void} show */
async function follow(signal, show) {
  const means = {
    isReady,
    send: (/** @type {string} */ name, /** @type {string} */ body) =>
      send(name, { body, signal, isProbe: true }),
    now: () => Date.now(),
    ...{ spanText, timeText, say },
    isEncrypted: location.protocol === 'https:',
  };
  for await (const check of runChecks(means)) {
    if (signal.aborted) return;
    show(check);
  }
}

export function Checks() {
  const { checks, isBusy, error, again } = useChecks();
  return h(
    'div',
    { class: 'card' },
    h('h2', {}, say(SETUP_WORDS.checks)),
    h('p', { class: 'quiet' }, say(SETUP_WORDS.checksAbout)),
    h(
      'ul',
      { class: 'checks', 'aria-busy': String(isBusy) },
      checks.map(({ name, status, words, values }) =>
        h(
          'li',
          { key: name, class: 'check', 'data-check': name, 'data-status': status },
          h('strong', {}, say(SETUP_WORDS.names[name])),
          h('span', { class: 'status' }, say(SETUP_WORDS.status[status])),
          h('bdi', {}, sayWith(words, ...values)),
        ),
      ),
    ),
    error ? h(Failure, { error }) : null,
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        { type: 'button', disabled: isBusy, onClick: again },
        say(SETUP_WORDS.checkAgain),
      ),
      h('span', { class: 'quiet', role: 'status' }, isBusy ? say(SETUP_WORDS.checking) : ''),
    ),
  );
}
