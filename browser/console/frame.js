/** The frame of each screen: a header of one row, the navigation, and notices about the service. */

import { Fragment, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Account } from './account.js';
import { Languages } from './kit/languages.js';
import { isNarrow } from './kit/narrow.js';
import { go, hrefOf, route } from './kit/route.js';
import { say, sayWith } from './kit/speech.js';
import { WORDS } from './kit/words.js';
import { Failure, timeText } from './read/answer-parts.js';
import { keepLooking, lookAgain, ready, self, selfError } from './read/self.js';
import { isRequestId } from './read/views.js';

/** @typedef {import('preact').ComponentChildren} Children */

/** @param {{ screens: readonly string[], current: string, children?: Children }} props */
export function Frame({ screens, current, children }) {
  useEffect(keepLooking, []);
  const [isOpen, setOpen] = useState(false);
  const opener = useRef(/** @type {HTMLButtonElement | null} */ (null));
  // A followed link closes the navigation of a small screen.
  useEffect(() => setOpen(false), [route.value]);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const isKnown = self.value !== undefined;
  return h(
    Fragment,
    {},
    h('a', { class: 'skip', href: '#content', onClick: toContent }, say(WORDS.skip)),
    h(
      'header',
      { class: 'topbar' },
      h(
        'button',
        {
          type: 'button',
          ref: opener,
          class: 'sections-button',
          'aria-label': say(WORDS.screens),
          'aria-expanded': String(isOpen),
          'aria-controls': 'sections',
          onClick: () => setOpen(!isOpen),
        },
        '☰',
      ),
      h('a', { class: 'name', href: hrefOf('overview') }, say(WORDS.product)),
      h(System, {}),
      !isNarrow.value && h(Search, { key: route.value.params.q ?? '' }),
      h(Languages, {}),
      h(Account, {}),
    ),
    h(
      'div',
      { class: 'shell' },
      h(Sections, { screens, current, isOpen, close }),
      h(
        'main',
        { id: 'content', tabIndex: -1 },
        h(Notices, {}),
        isKnown
          ? children
          : selfError.value
            ? h(Failure, { error: selfError.value, again: () => void lookAgain() })
            : null,
      ),
    ),
  );
}

/** The fragment of the address names the screen, so this link must not change it. @param {Event} event */
function toContent(event) {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function System() {
  const light = ready.value === undefined ? WORDS.away : ready.value ? WORDS.ready : WORDS.notReady;
  return h(
    'p',
    { class: 'system' },
    h('bdi', { class: 'system-code' }, self.value?.systemCode),
    h(
      'span',
      { class: `light ${ready.value ? 'good' : 'bad'}`, role: 'status', title: say(light) },
      h('span', {}, say(light)),
    ),
  );
}

function Notices() {
  const paused = self.value?.paused;
  return h(
    Fragment,
    {},
    ready.value === undefined && h('p', { class: 'note' }, say(WORDS.noAnswer)),
    ready.value === false && h('p', { class: 'note' }, say(WORDS.notReadyAbout)),
    paused &&
      h(
        'p',
        { class: 'note paused', role: 'status' },
        sayWith(WORDS.pausedSince, timeText(paused.since)),
        paused.reason ? h(Fragment, {}, ': ', h('bdi', {}, paused.reason)) : null,
      ),
  );
}

/** The section of the navigation to which a screen of one thing belongs. */
const SECTIONS = new Map([
  ['push', 'pushes'],
  ['matter', 'matters'],
]);

/** @param {string} name @param {string} current */
function currentMark(name, current) {
  if (name === current) return 'page';
  return name === SECTIONS.get(current) ? 'true' : undefined;
}

/** @param {{ screens: readonly string[], current: string, isOpen: boolean, close: () => void }} props */
const Sections = ({ screens, current, isOpen, close }) =>
  h(
    'nav',
    {
      id: 'sections',
      class: isOpen ? 'open' : '',
      'aria-label': say(WORDS.screens),
      onKeyDown: (/** @type {KeyboardEvent} */ { key }) => key === 'Escape' && isOpen && close(),
    },
    isNarrow.value && h(Search, { key: route.value.params.q ?? '' }),
    screens.map((name) =>
      h(
        'a',
        { key: name, href: hrefOf(name), 'aria-current': currentMark(name, current) },
        say(WORDS[/** @type {'pushes'} */ (name)]),
      ),
    ),
  );

/** The search finds pushes by their exact id, and matters by the start of their id. Its screen leads to the search by title. */
function Search() {
  const [text, setText] = useState(route.value.params.q ?? '');
  const find = (/** @type {Event} */ event) => {
    event.preventDefault();
    const q = text.trim();
    // If the log has no push with this id, that screen searches for a matter or a key with this name.
    if (isRequestId(q)) go('push', { id: q.toLowerCase(), q });
    else go('pushes', { q });
  };
  return h(
    'form',
    { role: 'search', onSubmit: find },
    h('input', {
      id: 'search',
      type: 'text',
      'aria-label': say(WORDS.search),
      placeholder: say(WORDS.search),
      title: say(WORDS.search),
      value: text,
      maxLength: 255,
      onInput: (event) => setText(event.currentTarget.value),
    }),
    h('button', { type: 'submit' }, say(WORDS.find)),
  );
}
