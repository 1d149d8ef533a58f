/** The form that fixes a failed push: one input for each invalid field, and the whole body as JSON. */

import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Fields } from '../../kit/parts.js';
import { hrefOf, route } from '../../kit/route.js';
import { say, sayWith } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { Failure } from '../../read/answer-parts.js';
import { ask } from '../../read/ask.js';
import { OPERATIONS, prettyOf } from '../../read/bodies.js';
import { dateAt } from '../../read/range.js';
import { mayPush, seesBodies, self } from '../../read/self.js';
import { session } from '../../read/session.js';
import { isAuthenticated } from '../../send/authenticated.js';
import { sendPush, verify } from '../../send/fix.js';
import { isForeign, keyOf, objectionTo } from '../../send/fix-guard.js';
import { planResend } from '../../send/resend.js';
import { FAILURES } from '../../send/words.js';
import { BodyEditor, FieldInputs } from './fix-inputs.js';
import { PUSH } from './words.js';

/** @typedef {import('../../read/shapes').Entry} Entry */
/** @typedef {import('../../read/shapes').Envelope} Envelope */
/** @typedef {import('../../send/fix-guard.js').Objection} Refusal */
/**
 * `checked`: the text that the service found valid; `isSent`: the envelope answers the resend, not a check.
 *
 * @typedef {{ envelope?: Envelope, error?: unknown, isSent?: boolean, checked?: string, objection?: Refusal }} Shown
 */

/** @param {{ entry: Entry, onSent: () => void }} props */
export function Fix({ entry, onSent }) {
  const { operation, body, reason } = entry;
  if (!reason || !OPERATIONS.includes(operation)) return null;
  const cannot = whyNot(entry);
  return h(
    'details',
    // A link of the failures opens the form.
    { class: 'card fix', open: route.value.params.fix === '1' },
    h('summary', {}, h('h2', {}, say(PUSH.fix))),
    cannot || typeof body !== 'string'
      ? h('p', { class: 'note' }, say(cannot ?? PUSH.bodyGone))
      : h(Form, { entry, body, onSent }),
  );
}

/** @param {Entry} entry */
function whyNot(entry) {
  if (!isAuthenticated(entry)) return PUSH.notSigned;
  if (isForeign(entry, session.peek()?.clientId ?? '')) return PUSH.foreign;
  if (!seesBodies()) return WORDS.hiddenBodies;
  return mayPush() ? undefined : FAILURES.readOnly;
}

/** @param {{ entry: Entry, body: string, onSent: () => void }} props */
function Form({ entry, body, onSent }) {
  const { operation, problems } = entry;
  const original = prettyOf(body);
  const [text, setText] = useState(original);
  const [shown, setShown] = useState(/** @type {Shown} */ ({}));
  const [isBusy, setBusy] = useState(false);
  const left = useRef(new AbortController());
  useEffect(() => () => left.current.abort(), []);
  /** @param {() => Promise<Shown>} work */
  const run = async (work) => {
    setBusy(true);
    try {
      setShown(await work());
    } catch (error) {
      setShown({ error });
    }
    setBusy(false);
  };
  // An unchanged body is sent byte for byte.
  const sent = text === original ? body : text;
  const check = () => run(async () => ({ envelope: await verify(operation, sent), checked: text }));
  const resend = () =>
    run(async () => {
      const { signal } = left.current;
      const askPage = (/** @type {unknown} */ question) => ask('push-logs/query', question, signal);
      // Other users may have resolved the failure since this page was opened.
      const askPlan = (/** @type {string} */ id) => planOf(id, entry.clientId, signal);
      const objection = await objectionTo(entry, { askPage, askPlan });
      if (objection && !isShown(objection, shown.objection)) return { ...shown, objection };
      const key = keyOf(entry);
      return { envelope: await sendPush({ operation, body: sent, key }), isSent: true };
    });
  const isChecked = shown.checked === text && shown.envelope?.code === 0;
  const errors = shown.envelope ? (shown.envelope.errors ?? []) : problems;
  const fields = [...problems, ...errors].map(({ field }) => field.replace(/^push\./, ''));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void check();
  };
  return h(
    'form',
    { onSubmit: submit },
    h(FieldInputs, { fields, errors, text, setText }),
    h(BodyEditor, { errors, text, setText }),
    h(
      'p',
      { class: 'buttons' },
      h('button', { type: 'submit', disabled: isBusy }, say(PUSH.check)),
      h(
        'button',
        {
          ...{ type: 'button', class: 'main', onClick: resend },
          disabled: isBusy || !isChecked || shown.objection !== undefined,
        },
        say(PUSH.resend),
      ),
    ),
    shown.error ? h(Failure, { error: shown.error }) : null,
    shown.objection && isChecked && h(Objection, { objection: shown.objection, isBusy, resend }),
    shown.envelope &&
      h(Verdict, { entry, envelope: shown.envelope, isSent: shown.isSent === true, onSent }),
  );
}

/** A client resends only its own pushes. @param {string} id @param {string | null} clientId of the push @param {AbortSignal} signal */
async function planOf(id, clientId, signal) {
  if (session.peek()?.clientId !== clientId) return undefined;
  return (await planResend([id], { set: [], signal, report: () => {} })).get(id);
}

/**
 * "Resend anyway" confirms what the page shows, not what has happened since. While a resend is queued, the form offers no
 * confirmation: that resend may still take effect.
 *
 * @param {Refusal} objection @param {Refusal | undefined} before
 */
const isShown = ({ kind, count }, before) =>
  kind !== 'queued' && before?.kind === kind && before.count === count;

/** @param {{ objection: Refusal, isBusy: boolean, resend: () => void }} props */
function Objection({ objection: { kind, failed, count }, isBusy, resend }) {
  const anyway = h(
    'button',
    { type: 'button', disabled: isBusy, onClick: resend },
    say(PUSH.resendAnyway),
  );
  return h(
    'div',
    { role: 'alert', class: 'note' },
    kind === 'others'
      ? h(
          'p',
          {},
          `${sayWith(PUSH.othersFail, count)} `,
          h('a', { href: failuresHref(failed) }, say(PUSH.failures)),
        )
      : h('p', {}, say(kind === 'queued' ? PUSH.queued : PUSH.resolved)),
    kind !== 'queued' && anyway,
  );
}

/** The matter is listed under its last failure. @param {readonly Entry[]} failed the newest first */
function failuresHref(failed) {
  const first = Date.parse(failed.at(-1)?.receivedAt ?? '');
  const from = `${dateAt(first, self.value?.timeZone ?? 'UTC')}T00:00`;
  const range = { range: 'custom', from, to: '' };
  return hrefOf('failures', { reason: failed[0]?.reason ?? '', ...range });
}

/** @param {{ entry: Entry, envelope: Envelope, isSent: boolean, onSent: () => void }} props */
function Verdict({ entry, envelope, isSent, onSent }) {
  const { code, message, reason, warnings = [] } = envelope;
  const isResent = isSent && code === 0;
  const good = isSent ? PUSH.resent : PUSH.wouldPass;
  return h(
    'div',
    { role: 'status', class: `verdict ${code === 0 ? 'good' : 'bad'}` },
    h('p', {}, h('strong', {}, code === 0 ? say(good) : message), reason ? ` ${reason}` : ''),
    h(Fields, { title: say(PUSH.warnings), fields: warnings }),
    isResent &&
      h(
        'p',
        { class: 'buttons' },
        h('a', { href: hrefOf('failures', { reason: entry.reason ?? '' }) }, say(PUSH.next)),
        h('button', { type: 'button', onClick: onSent }, say(PUSH.refresh)),
      ),
  );
}
