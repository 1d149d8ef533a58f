/** The checks as they are made, each told when it is done. */
import { isReady, send } from './ask.js';
import { useEffect, useState } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { Failure, spanText, timeText } from './parts.js';
import { runChecks } from './setup-checks.js';
import { SETUP_WORDS } from './setup-words.js';
import { isEnglish, say, sayWith } from './speech.js';

/** @typedef {import('./setup-shapes').Check} Check */

/** @type {{ checks: readonly Check[], isBusy: boolean, error?: unknown }} */
const NONE = { checks: [], isBusy: true };

function useChecks() {
  const [turn, setTurn] = useState(0);
  const [found, setFound] = useState(NONE);
  // What the service says to a check is in the language that it was asked in.
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
