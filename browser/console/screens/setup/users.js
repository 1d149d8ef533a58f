/** Checks which usernames a push may name. The page does not keep the usernames. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { Copy, Waiting } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { Failure } from '../../read/answer-parts.js';
import { ask } from '../../read/ask.js';
import { sessionSignal } from '../../read/session.js';
import { badUsers, namesIn } from './usernames.js';
import { SETUP_WORDS } from './words.js';

/** @typedef {import('./usernames.js').BadUser} BadUser */

/** The maximum number of usernames of a check: ten queries. */
const MAX_NAMES = 10_000;
/** The number of rejected usernames that are shown; all of them can be copied. */
const MAX_SHOWN = 200;

/** @typedef {{ count: number, bad: readonly BadUser[], isCut: boolean }} Found */

export function Users() {
  const [text, setText] = useState('');
  const [{ found, error, isLoading }, setState] = useState(
    /** @type {{ found?: Found, error?: unknown, isLoading?: boolean }} */ ({}),
  );
  const look = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const all = namesIn(text);
    if (all.length === 0) return;
    const names = all.slice(0, MAX_NAMES);
    setState({ isLoading: true });
    try {
      const asker = sessionSignal();
      const bad = await badUsers(names, (usernames) => ask('users/check', { usernames }, asker));
      setState({ found: { count: names.length, bad, isCut: all.length > names.length } });
    } catch (problem) {
      setState({ error: problem });
    }
  };
  return h(
    'form',
    { class: 'card users', onSubmit: look },
    h('h2', {}, say(SETUP_WORDS.users)),
    h('p', { class: 'quiet' }, sayWith(SETUP_WORDS.usersAbout, MAX_NAMES)),
    h(
      'label',
      {},
      say(SETUP_WORDS.usernames),
      h('textarea', {
        id: 'usernames',
        rows: 4,
        spellcheck: false,
        value: text,
        onInput: (/** @type {any} */ event) => setText(event.currentTarget.value),
      }),
    ),
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        { type: 'submit', class: 'main', disabled: isLoading },
        say(SETUP_WORDS.checkUsers),
      ),
    ),
    isLoading && h(Waiting, {}),
    error ? h(Failure, { error }) : null,
    found && h(Result, { found }),
  );
}

/** @param {{ found: Found }} props */
function Result({ found: { count, bad, isCut } }) {
  const names = bad.map(({ username }) => username);
  return h(
    'div',
    { class: 'answer' },
    h(
      'p',
      { role: 'status', class: bad.length === 0 ? 'good' : 'bad' },
      bad.length === 0
        ? sayWith(SETUP_WORDS.allKnown, count)
        : sayWith(SETUP_WORDS.someUnknown, bad.length, count),
    ),
    isCut && h('p', { class: 'note' }, sayWith(SETUP_WORDS.tooManyUsers, count)),
    bad.length > 0 && h(Copy, { text: names.join('\n'), label: say(SETUP_WORDS.copyThem) }),
    h(
      'ul',
      {},
      bad
        .slice(0, MAX_SHOWN)
        .map(({ username, state }) =>
          h(
            'li',
            { key: username },
            h('bdi', {}, username),
            h('span', { class: 'quiet' }, ` – ${say(SETUP_WORDS.userState[state])}`),
          ),
        ),
    ),
    bad.length > MAX_SHOWN &&
      h('p', { class: 'quiet' }, sayWith(SETUP_WORDS.moreUsers, bad.length - MAX_SHOWN)),
  );
}
