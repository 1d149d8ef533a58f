/** Checks which usernames a push may name. The page does not keep the usernames. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { Copy, Waiting } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { Failure } from '../../read/answer-parts.js';
import { ask } from '../../read/ask.js';
import { sessionSignal } from '../../read/session.js';
import { badUsers, namesIn } from './usernames.js';
import { USERS } from './users-words.js';

/** @typedef {import('./usernames.js').BadUser} BadUser */

/** The maximum number of usernames of a check: ten queries. */
const MAX_NAMES = 10_000;
/** The number of rejected usernames that are shown; all of them can be copied. */
const MAX_SHOWN = 200;

/** @typedef {{ count: number, bad: readonly BadUser[], isCut: boolean }} Found */

/** @param {{ isFolded?: boolean, suggested?: string }} props `suggested`: usernames, until the user enters others */
export function Users({ isFolded = false, suggested = '' }) {
  const [typed, setText] = useState(/** @type {string | undefined} */ (undefined));
  const text = typed ?? suggested;
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
  const heading = h('h2', {}, say(USERS.users));
  const form = h(
    'form',
    { onSubmit: look },
    h('p', { class: 'quiet' }, sayWith(USERS.usersAbout, MAX_NAMES)),
    h(
      'label',
      {},
      say(USERS.usernames),
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
      h('button', { type: 'submit', class: 'main', disabled: isLoading }, say(USERS.checkUsers)),
    ),
    isLoading && h(Waiting, {}),
    error ? h(Failure, { error }) : null,
    found && h(Result, { found }),
  );
  return isFolded
    ? h('details', { class: 'card users' }, h('summary', {}, heading), form)
    : h('div', { class: 'card users' }, heading, form);
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
        ? sayWith(USERS.allKnown, count)
        : sayWith(USERS.someUnknown, bad.length, count),
    ),
    isCut && h('p', { class: 'note' }, sayWith(USERS.tooManyUsers, count)),
    bad.length > 0 && h(Copy, { text: names.join('\n'), label: say(USERS.copyThem) }),
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
            h('span', { class: 'quiet' }, ` – ${say(USERS.userState[state])}`),
          ),
        ),
    ),
    bad.length > MAX_SHOWN &&
      h('p', { class: 'quiet' }, sayWith(USERS.moreUsers, bad.length - MAX_SHOWN)),
  );
}
