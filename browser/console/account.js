/** The account menu: the client, the rights and the expiry of its key, and the way out. */
import { Fragment, h } from 'preact';
import { useRef } from 'preact/hooks';
import { spanText } from './kit/parts.js';
import { isFree } from './kit/route.js';
import { say, sayWith } from './kit/speech.js';
import { WORDS } from './kit/words.js';
import { timeText } from './read/answer-parts.js';
import { clockOff } from './read/ask.js';
import { mayPush, seesBodies, self } from './read/self.js';
import { end } from './read/session.js';

export function Account() {
  const menu = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const close = () => menu.current?.removeAttribute('open');
  const me = self.value;
  return h(
    'details',
    {
      class: 'account',
      ref: menu,
      onKeyDown: (/** @type {KeyboardEvent} */ { key }) => {
        if (key !== 'Escape') return;
        close();
        menu.current?.querySelector('summary')?.focus();
      },
      onFocusOut: (/** @type {FocusEvent} */ { relatedTarget }) => {
        if (!menu.current?.contains(/** @type {Node | null} */ (relatedTarget))) close();
      },
    },
    h(
      'summary',
      {},
      h('bdi', { class: 'account-name' }, me?.clientId ?? say(WORDS.account)),
      me && !mayPush() && h('span', { class: 'badge even' }, say(WORDS.readOnly)),
    ),
    // A click on its text keeps the focus inside, so that the menu stays open.
    h('div', { class: 'who', tabIndex: -1 }, me && h(Facts, { me }), h(SignOut, {})),
  );
}

/** @param {{ me: import('./read/self.js').Self }} props */
function Facts({ me }) {
  const { endsAt } = me.signedWith;
  const access = [
    mayPush() ? WORDS.mayPush : WORDS.mayAsk,
    ...(seesBodies() ? [] : [WORDS.noBodies]),
  ];
  /** @type {[import('./kit/speech.js').Words, string][]} */
  const facts = [
    [WORDS.system, me.systemCode],
    [WORDS.clientId, me.clientId],
    [WORDS.access, access.map(say).join(' · ')],
    [WORDS.keyEnds, endsAt ? timeText(endsAt) : say(WORDS.keyStays)],
  ];
  return h(
    Fragment,
    {},
    h(
      'dl',
      { class: 'facts' },
      facts.map(([name, value]) => [h('dt', {}, say(name)), h('dd', {}, h('bdi', {}, value))]),
    ),
    clockOff.value !== 0 &&
      h('p', { class: 'quiet' }, sayWith(WORDS.clock, spanText(Math.abs(clockOff.value)))),
  );
}

const SignOut = () =>
  h('button', { type: 'button', onClick: () => isFree() && end() }, say(WORDS.leave));
