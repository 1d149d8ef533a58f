/** The sign-in with client id and secret, for users without a sign-in link. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { Languages } from './kit/languages.js';
import { numberText } from './kit/parts.js';
import { say, sayWith } from './kit/speech.js';
import { WORDS } from './kit/words.js';
import { reasonWords } from './read/reasons.js';
import { begin, endedBy, endedWork } from './read/session.js';

export function Entrance() {
  const [clientId, setClientId] = useState('');
  const [key, setKey] = useState('');
  const reason = endedBy.value;
  const work = endedWork.value;
  const enter = (/** @type {Event} */ event) => {
    event.preventDefault();
    begin({ clientId: clientId.trim(), key: key.trim() });
  };
  return h(
    'main',
    { class: 'entrance', id: 'content' },
    h(Languages, {}),
    h('h1', {}, say(WORDS.title)),
    h('p', {}, say(WORDS.about)),
    reason &&
      h(
        'p',
        { class: 'failure', role: 'alert' },
        reason === 'SIGNATURE_MISMATCH' ? say(WORDS.ended) : say(reasonWords(reason)),
        h('span', { class: 'quiet' }, ` ${reason}`),
      ),
    work &&
      h(
        'p',
        { class: 'note', role: 'status' },
        sayWith(work.words, ...work.counts.map(numberText)),
      ),
    h(
      'form',
      { onSubmit: enter },
      h(
        'label',
        {},
        say(WORDS.clientId),
        h('input', {
          id: 'client',
          type: 'text',
          autocomplete: 'username',
          required: true,
          spellcheck: false,
          // A header allows no other characters.
          pattern: '\\s*[\\x21-\\x7e]+\\s*',
          value: clientId,
          onInput: (/** @type {any} */ event) => setClientId(event.currentTarget.value),
        }),
      ),
      h(
        'label',
        {},
        say(WORDS.secret),
        h('input', {
          id: 'key',
          type: 'password',
          autocomplete: 'off',
          required: true,
          value: key,
          onInput: (/** @type {any} */ event) => setKey(event.currentTarget.value),
        }),
      ),
      h('button', { type: 'submit', class: 'main' }, say(WORDS.enter)),
    ),
    h('p', { class: 'quiet' }, say(WORDS.entranceHint)),
  );
}
