/** A failed push, to be sent again as it is or mended first. Nothing is sent before the service has looked at it. */

import { isAuthenticated } from './authenticated.js';
import { OPERATIONS, prettyOf } from './bodies.js';
import { useState } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { Failure, Fields } from './parts.js';
import { route } from './route.js';
import { mayPush } from './self.js';
import { sendPush, verify } from './send-push.js';
import { spanOf } from './set-field.js';
import { say } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').Envelope} Envelope */

/** @param {{ entry: Entry, onSent: () => void }} props */
export function Mend({ entry, onSent }) {
  const { operation, body, reason } = entry;
  if (!reason || !OPERATIONS.includes(operation) || typeof body !== 'string') return null;
  const cannot = !isAuthenticated(entry)
    ? WORDS.notAuthenticated
    : mayPush()
      ? undefined
      : WORDS.mayNotPush;
  return h(
    'details',
    // A link from the failures leads here.
    { class: 'card mend', open: route.value.params.mend === '1' },
    h('summary', {}, h('h2', {}, say(WORDS.mend))),
    cannot ? h('p', { class: 'note' }, say(cannot)) : h(Editor, { entry, body, onSent }),
  );
}

/** @param {{ entry: Entry, body: string, onSent: () => void }} props */
function Editor({ entry, body, onSent }) {
  const { operation, requestId, idempotencyKey, problems } = entry;
  const original = prettyOf(body);
  const [text, setText] = useState(original);
  const [told, setTold] = useState(
    /** @type {{ envelope?: Envelope, error?: unknown, isSent?: boolean, checked?: string }} */ ({}),
  );
  const [isBusy, setBusy] = useState(false);
  /** @param {() => Promise<Envelope>} work @param {object} about */
  const run = async (work, about) => {
    setBusy(true);
    try {
      const envelope = await work();
      setTold({ envelope, ...about });
    } catch (error) {
      setTold({ error });
    }
    setBusy(false);
  };
  // What was not changed is sent byte for byte.
  const sent = text === original ? body : text;
  const check = () => run(() => verify(operation, sent), { checked: text });
  const push = () =>
    run(() => sendPush({ operation, body: sent, requestId, idempotencyKey }), { isSent: true });
  const isChecked = told.checked === text && told.envelope?.code === 0;
  const errors = told.envelope ? (told.envelope.errors ?? []) : problems;
  return h(
    'form',
    {
      onSubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void check();
      },
    },
    h(
      'label',
      {},
      say(WORDS.body),
      h('textarea', {
        id: 'mend-body',
        rows: 16,
        spellcheck: false,
        dir: 'ltr',
        value: text,
        'aria-invalid': String(errors.length > 0),
        onInput: (/** @type {any} */ event) => setText(event.currentTarget.value),
      }),
    ),
    h(Marks, { errors, text }),
    h(
      'p',
      { class: 'buttons' },
      h('button', { type: 'submit', disabled: isBusy }, say(WORDS.check)),
      h(
        'button',
        { type: 'button', class: 'main', disabled: isBusy || !isChecked, onClick: push },
        say(WORDS.sendAgain),
      ),
    ),
    told.error ? h(Failure, { error: told.error }) : null,
    told.envelope && h(Verdict, { envelope: told.envelope, isSent: told.isSent === true, onSent }),
  );
}

/** @param {{ envelope: Envelope, isSent: boolean, onSent: () => void }} props */
function Verdict({ envelope, isSent, onSent }) {
  const { code, message, reason, warnings = [] } = envelope;
  const good = isSent ? WORDS.sentAgain : WORDS.wouldPass;
  return h(
    'div',
    { role: 'status', class: `verdict ${code === 0 ? 'good' : 'bad'}` },
    h('p', {}, h('strong', {}, code === 0 ? say(good) : message), reason ? ` ${reason}` : ''),
    h(Fields, { title: say(WORDS.warnings), fields: warnings }),
    isSent && code === 0 && h('button', { type: 'button', onClick: onSent }, say(WORDS.lookAgain)),
  );
}

/** Each leads to its place in the text. @param {{ errors: readonly { field: string, message: string }[], text: string }} props */
function Marks({ errors, text }) {
  if (errors.length === 0) return null;
  const find = (/** @type {string} */ field) => {
    const area = document.getElementById('mend-body');
    if (!(area instanceof HTMLTextAreaElement)) return;
    area.focus();
    const span = spanOf(text, field.replace(/^push\./, ''));
    if (span) area.setSelectionRange(...span);
  };
  return h(
    'ul',
    { class: 'marks' },
    errors.map(({ field, message }) =>
      h(
        'li',
        { key: field + message },
        h('button', { type: 'button', onClick: () => find(field) }, h('code', {}, field)),
        ` ${message}`,
      ),
    ),
  );
}
