/** What stands around each screen: who asks, how the service is, the range, the search, the way to other screens. */
import { clockOff } from './ask.js';
import { Languages } from './languages.js';
import { useEffect, useState } from './lib/hooks.js';
import { Fragment, h } from './lib/preact.js';
import { lookAnew } from './moment.js';
import { Failure, spanText, timeText } from './parts.js';
import { RANGES } from './range.js';
import { go, hrefOf, isFree, route, show } from './route.js';
import { keepLooking, lookAgain, mayPush, ready, self, selfError } from './self.js';
import { end } from './session.js';
import { say, sayWith } from './speech.js';
import { isRequestId } from './views.js';
import { WORDS } from './words.js';

/** @typedef {import('preact').ComponentChildren} Children */

/** @param {{ screens: readonly string[], current: string, children?: Children }} props */
export function Frame({ screens, current, children }) {
  useEffect(keepLooking, []);
  const isKnown = self.value !== undefined;
  return h(
    Fragment,
    {},
    h('a', { class: 'skip', href: '#content', onClick: toContent }, say(WORDS.skip)),
    h(
      'header',
      {},
      h('p', { class: 'name' }, say(WORDS.title)),
      h(Who, {}),
      h(
        'p',
        { class: 'tools' },
        h(Languages, {}),
        h('button', { type: 'button', onClick: () => isFree() && end() }, say(WORDS.leave)),
      ),
      h(Screens, { screens, current }),
      h(Search, { key: route.value.params.q ?? '' }),
      h(Range, {}),
    ),
    h(
      'main',
      { id: 'content', tabIndex: -1 },
      isKnown
        ? children
        : selfError.value
          ? h(Failure, { error: selfError.value, again: () => void lookAgain() })
          : null,
    ),
  );
}

/** The fragment of the address is where the screen stands: this link must not become one. @param {Event} event */
function toContent(event) {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Who() {
  const me = self.value;
  const light = ready.value === undefined ? WORDS.away : ready.value ? WORDS.ready : WORDS.notReady;
  return h(
    'div',
    { class: 'who' },
    me &&
      h(
        'p',
        {},
        h('strong', {}, h('bdi', {}, me.systemCode)),
        ' · ',
        h('bdi', {}, me.clientId),
        ` · ${say(mayPush() ? WORDS.mayPush : WORDS.mayAsk)}`,
      ),
    h('p', { class: `light ${ready.value ? 'good' : 'bad'}`, role: 'status' }, say(light)),
    me?.signedWith.endsAt &&
      h('p', { class: 'quiet' }, sayWith(WORDS.keyEnds, timeText(me.signedWith.endsAt))),
    me?.paused &&
      h(
        'p',
        { class: 'paused', role: 'status' },
        sayWith(WORDS.pausedSince, timeText(me.paused.since)),
        me.paused.reason ? h(Fragment, {}, ': ', h('bdi', {}, me.paused.reason)) : null,
      ),
    clockOff.value !== 0 &&
      h('p', { class: 'quiet' }, sayWith(WORDS.clock, spanText(Math.abs(clockOff.value)))),
  );
}

/** What one leads to lies in the section of the many. */
const SECTIONS = new Map([
  ['push', 'pushes'],
  ['matter', 'matters'],
]);

/** @param {string} name @param {string} current */
function currentMark(name, current) {
  if (name === current) return 'page';
  return name === SECTIONS.get(current) ? 'true' : undefined;
}

/** @param {{ screens: readonly string[], current: string }} props */
const Screens = ({ screens, current }) =>
  h(
    'nav',
    { 'aria-label': say(WORDS.screens) },
    screens.map((name) =>
      h(
        'a',
        { key: name, href: hrefOf(name), 'aria-current': currentMark(name, current) },
        say(WORDS[/** @type {'pushes'} */ (name)]),
      ),
    ),
  );

/** One box for all that names a push: it leads to the pushes, or to the one that is named. */
function Search() {
  const [text, setText] = useState(route.value.params.q ?? '');
  const find = (/** @type {Event} */ event) => {
    event.preventDefault();
    const q = text.trim();
    // Where there is no such push, that screen goes on to those whose matter or key is named so.
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
      value: text,
      maxLength: 255,
      onInput: (event) => setText(event.currentTarget.value),
    }),
    h('button', { type: 'submit' }, say(WORDS.find)),
  );
}

function Range() {
  const { range = 'today', from = '', to = '' } = route.value.params;
  const input = (/** @type {'from' | 'to'} */ name, /** @type {string} */ value) =>
    h(
      'label',
      {},
      say(WORDS[name]),
      h('input', {
        type: 'datetime-local',
        value,
        onChange: (event) => show({ [name]: event.currentTarget.value }),
      }),
    );
  return h(
    'div',
    { class: 'range', role: 'group', 'aria-label': say(WORDS.range) },
    RANGES.map((name) =>
      h(
        'button',
        {
          type: 'button',
          key: name,
          'aria-pressed': String(name === range),
          onClick: () => {
            show({ range: name === 'today' ? '' : name, from: '', to: '' });
            lookAnew();
          },
        },
        say(WORDS.ranges[/** @type {'today'} */ (name)]),
      ),
    ),
    range === 'custom' && input('from', from),
    range === 'custom' && input('to', to),
    h('span', { class: 'quiet' }, self.value?.timeZone),
  );
}
