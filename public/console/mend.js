/** A failed push, to be sent again as it is or mended first. Nothing is sent before the service has looked at it. */

import { ask } from './ask.js';
import { isAuthenticated } from './authenticated.js';
import { OPERATIONS, prettyOf } from './bodies.js';
import { useEffect, useRef, useState } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { isForeign, objectionTo } from './mend-guard.js';
import { Failure, Fields } from './parts.js';
import { dateAt } from './range.js';
import { hrefOf, route } from './route.js';
import { mayPush, self } from './self.js';
import { sendPush, verify } from './send-push.js';
import { session } from './session.js';
import { spanOf } from './set-field.js';
import { say, sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Entry} Entry */
/** @typedef {import('./shapes').Envelope} Envelope */

/** @param {{ entry: Entry, onSent: () => void }} props */
export function Mend({ entry, onSent }) {
  const { operation, body, reason } = entry;
  if (!reason || !OPERATIONS.includes(operation) || typeof body !== 'string') return null;
  const cannot = whyNot(entry);
  return h(
    'details',
    // A link from the failures leads here.
    { class: 'card mend', open: route.value.params.mend === '1' },
    h('summary', {}, h('h2', {}, say(WORDS.mend))),
    cannot ? h('p', { class: 'note' }, say(cannot)) : h(Editor, { entry, body, onSent }),
  );
}

/** @param {Entry} entry */
function whyNot(entry) {
  if (!isAuthenticated(entry)) return WORDS.notAuthenticated;
  if (isForeign(entry, session.peek()?.clientId ?? '')) return WORDS.foreign;
  return mayPush() ? undefined : WORDS.mayNotPush;
}

/** @param {{ entry: Entry, body: string, onSent: () => void }} props */
function Editor({ entry, body, onSent }) {
  const { operation, requestId, idempotencyKey, problems } = entry;
  const original = prettyOf(body);
  const [text, setText] = useState(original);
  const [told, setTold] = useState(
    /** @type {{ envelope?: Envelope, error?: unknown, isSent?: boolean, checked?: string, objection?: import('./mend-guard.js').Objection }} */ ({}),
  );
  const [isBusy, setBusy] = useState(false);
  const left = useRef(new AbortController());
  useEffect(() => () => left.current.abort(), []);
  /** @param {() => Promise<typeof told>} work */
  const run = async (work) => {
    setBusy(true);
    try {
      setTold(await work());
    } catch (error) {
      setTold({ error });
    }
    setBusy(false);
  };
  // What was not changed is sent byte for byte.
  const sent = text === original ? body : text;
  const check = () => run(async () => ({ envelope: await verify(operation, sent), checked: text }));
  /** Others may have done it since this page was opened. */
  const push = () =>
    run(async () => {
      const { signal } = left.current;
      const askPage = (/** @type {unknown} */ question) => ask('push-logs/query', question, signal);
      const objection = await objectionTo(entry, askPage);
      // "All the same" is about what was told, and not about what came since.
      if (objection && !isTold(objection, told.objection)) return { ...told, objection };
      return {
        envelope: await sendPush({ operation, body: sent, requestId, idempotencyKey }),
        isSent: true,
      };
    });
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
        {
          type: 'button',
          class: 'main',
          disabled: isBusy || !isChecked || told.objection !== undefined,
          onClick: push,
        },
        say(WORDS.sendAgain),
      ),
    ),
    told.error ? h(Failure, { error: told.error }) : null,
    told.objection && isChecked && h(Objection, { objection: told.objection, isBusy, send: push }),
    told.envelope && h(Verdict, { envelope: told.envelope, isSent: told.isSent === true, onSent }),
  );
}

/** @typedef {import('./mend-guard.js').Objection} Told */

/** @param {Told} objection @param {Told | undefined} before */
const isTold = ({ isMended, others }, before) =>
  before?.isMended === isMended && before.others === others;

/** Why it is not sent at once, and the second step by which it is. @param {{ objection: import('./mend-guard.js').Objection, isBusy: boolean, send: () => void }} props */
const Objection = ({ objection: { isMended, failed, others }, isBusy, send }) =>
  h(
    'div',
    { role: 'alert', class: 'note' },
    isMended
      ? h('p', {}, say(WORDS.mendedSince))
      : h(
          'p',
          {},
          `${sayWith(WORDS.othersFail, others)} `,
          h('a', { href: failuresHref(failed) }, say(WORDS.failures)),
        ),
    h('button', { type: 'button', disabled: isBusy, onClick: send }, say(WORDS.sendAllTheSame)),
  );

/** The group in which the matter stands is that of its last failure. @param {readonly Entry[]} failed the newest first */
function failuresHref(failed) {
  const first = Date.parse(failed.at(-1)?.receivedAt ?? '');
  const from = `${dateAt(first, self.value?.timeZone ?? 'UTC')}T00:00`;
  const range = { range: 'custom', from, to: '' };
  return hrefOf('failures', { reason: failed[0]?.reason ?? '', ...range });
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
