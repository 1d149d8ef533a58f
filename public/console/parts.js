/** Small things that every screen shows. Texts are always children, never markup. */
import { AskError } from './ask.js';
import { h } from './lib/preact.js';
import { reasonWords } from './reasons.js';
import { self } from './self.js';
import { isEnglish, say, sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @param {{ error: unknown, again?: () => void }} props */
export function Failure({ error, again }) {
  const isTold = error instanceof AskError;
  const nobody = !isTold || error.reason === 'NO_ANSWER';
  const isAltered = isTold && error.reason === 'SIGNATURE_MISMATCH';
  const text = nobody ? say(WORDS.noAnswer) : isAltered ? say(WORDS.altered) : error.message;
  const details =
    isTold && !nobody ? `${error.reason} · ${error.envelope?.requestId ?? ''}` : String(error);
  return h(
    'div',
    { class: 'failure', role: 'alert' },
    h('p', {}, h('strong', {}, text)),
    h('p', { class: 'quiet' }, details),
    again && h('button', { type: 'button', onClick: again }, say(WORDS.tryAgain)),
  );
}

export const Waiting = () => h('p', { class: 'quiet', role: 'status' }, say(WORDS.loading));

/** @param {{ text: string }} props */
export const Nothing = ({ text }) => h('p', { class: 'nothing' }, text);

/** Where a search has looked at much, and somebody has to say whether it goes on. @param {{ list: { readonly rows: readonly unknown[], readonly more: () => void } }} props */
export const LookOn = ({ list: { rows, more } }) =>
  h(
    'p',
    { class: 'buttons' },
    rows.length === 0 && h('span', {}, say(WORDS.paused)),
    h('button', { type: 'button', onClick: more }, say(WORDS.lookOn)),
  );

/** @param {number} value */
export const numberText = (value) => new Intl.NumberFormat('en').format(value);

/** An instant in the time zone of the portal. @param {string | null | undefined} at @param {boolean} [isExact] with milliseconds */
export function timeText(at, isExact = false) {
  if (!at) return '–';
  const timeZone = self.value?.timeZone ?? 'UTC';
  return new Intl.DateTimeFormat(isEnglish() ? 'en-GB' : 'zh-CN', {
    timeZone,
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    second: '2-digit',
    ...(isExact && { fractionalSecondDigits: 3 }),
    hourCycle: 'h23',
  }).format(new Date(at));
}

/** @param {number} ms */
export function spanText(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 120
    ? sayWith(WORDS.minutes, minutes)
    : sayWith(WORDS.hours, Math.round(minutes / 60));
}

/** What became of a push, in words. @param {{ outcome: string | null, reason: string | null, state: string }} entry */
export function resultText({ outcome, reason, state }) {
  if (reason) return say(reasonWords(reason));
  if (outcome) return say(WORDS.outcomes[/** @type {'CREATED'} */ (outcome)] ?? [outcome, outcome]);
  return say(WORDS.states[/** @type {'QUEUED'} */ (state)] ?? [state, state]);
}

/** Good, bad or neither; told in words beside it. @param {{ reason: string | null, state: string, outcome?: string | null }} entry */
export function toneOf({ reason, state, outcome }) {
  if (reason || state === 'REFUSED' || state === 'EXPIRED') return 'bad';
  if (state === 'QUEUED' || outcome === 'STALE_IGNORED') return 'even';
  return 'good';
}

/** @param {{ title: string, fields: readonly { field: string, message: string }[] }} props */
export const Fields = ({ title, fields }) =>
  fields.length === 0
    ? null
    : h(
        'div',
        { class: 'fields' },
        h('h3', {}, title),
        h(
          'ul',
          {},
          fields.map(({ field, message }) =>
            h('li', { key: field + message }, h('code', {}, field), ` ${message}`),
          ),
        ),
      );

/** A text to be read and copied as it is; it scrolls, also by the keyboard. @param {{ text: string, label: string }} props */
export const Verbatim = ({ text, label }) =>
  h('pre', { tabIndex: 0, role: 'region', 'aria-label': label, dir: 'ltr' }, h('code', {}, text));

/** @param {{ text: string, label: string }} props */
export function Copy({ text, label }) {
  const copy = (/** @type {Event} */ event) => {
    const button = /** @type {HTMLButtonElement} */ (event.currentTarget);
    copyText(text);
    button.dataset.done = say(WORDS.copied);
  };
  return h('button', { type: 'button', class: 'copy', onClick: copy }, label);
}

/** Over plain http a browser has no navigator.clipboard. @param {string} text */
function copyText(text) {
  if (navigator.clipboard) {
    void navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
