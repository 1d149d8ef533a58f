/** The body and the technical data of a push. */

import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { Copy, Verbatim } from '../../kit/parts.js';
import { hrefOf } from '../../kit/route.js';
import { say } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { OPERATIONS, prettyOf } from '../../read/bodies.js';
import { seesBodies } from '../../read/self.js';
import { commandOf } from './curl.js';
import { PUSH } from './words.js';

/** @typedef {import('../../read/shapes').Entry} Entry */

/** Folded under a failure: the form that fixes the push has the body too. @param {{ entry: Entry }} props */
export function Body({ entry }) {
  const [isRaw, setRaw] = useState(false);
  const { body } = entry;
  if (body === null || body === undefined) {
    const why = seesBodies() ? PUSH.noBody : WORDS.hiddenBodies;
    return h('div', { class: 'card' }, h('h2', {}, say(PUSH.body)), h('p', {}, say(why)));
  }
  const url = new URL(`api/open/matters/${entry.operation}`, new URL('.', location.href)).href;
  const { clientId, idempotencyKey } = entry;
  return h(
    'details',
    { class: 'card', open: entry.reason === null },
    h('summary', {}, h('h2', {}, say(PUSH.body))),
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        { type: 'button', 'aria-pressed': String(!isRaw), onClick: () => setRaw(false) },
        say(PUSH.pretty),
      ),
      h(
        'button',
        { type: 'button', 'aria-pressed': String(isRaw), onClick: () => setRaw(true) },
        say(PUSH.raw),
      ),
      h(Copy, { text: body, label: say(PUSH.copy) }),
      OPERATIONS.includes(entry.operation) &&
        h(
          Fragment,
          {},
          h(Copy, {
            text: commandOf({ url, clientId, body, idempotencyKey }),
            label: say(PUSH.copyCurl),
          }),
          h('span', { class: 'quiet' }, say(PUSH.copyCurlAbout)),
        ),
    ),
    h(Verbatim, { text: isRaw ? body : prettyOf(body), label: say(PUSH.body) }),
  );
}

/** @param {{ entry: Entry }} props */
export function Facts({ entry }) {
  const links = ['duplicateOf', 'resentFrom'];
  const rows = Object.entries(PUSH.fields).flatMap(([name, words]) => {
    const value = entry[/** @type {'requestId'} */ (name)];
    if (value === null || value === undefined || name === 'stale') return [];
    const shown = links.includes(name)
      ? h('a', { href: hrefOf('push', { id: value }) }, value)
      : String(value);
    return [h(Fragment, { key: name }, h('dt', {}, say(words)), h('dd', {}, shown))];
  });
  return h(
    'details',
    { class: 'card' },
    h('summary', {}, h('h2', {}, say(PUSH.technical))),
    h('dl', { class: 'facts' }, rows),
  );
}
