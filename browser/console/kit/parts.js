/** Parts that every screen uses. Texts are always children, never markup. */
import { h } from 'preact';
import { say, sayWith } from './speech.js';
import { WORDS } from './words.js';

export const Waiting = () => h('p', { class: 'quiet', role: 'status' }, say(WORDS.loading));

/** An empty state: what is missing, and below it an explanation and a next step. @param {{ text: string, children?: import('preact').ComponentChildren }} props */
export const Nothing = ({ text, children }) =>
  h('div', { class: 'nothing' }, h('p', {}, h('strong', {}, text)), children);

/** After many empty pages a search stops until the user continues it. `text`: how far it came. @param {{ list: { readonly rows: readonly unknown[], readonly more: () => void }, text?: string }} props */
export const LookOn = ({ list: { rows, more }, text }) =>
  h(
    'p',
    { class: 'buttons' },
    text ? h('span', {}, text) : rows.length === 0 && h('span', {}, say(WORDS.paused)),
    h('button', { type: 'button', onClick: more }, say(WORDS.lookOn)),
  );

/** @param {number} value */
export const numberText = (value) => new Intl.NumberFormat('en').format(value);

/** @param {number} ms */
export function spanText(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 120
    ? sayWith(WORDS.minutes, minutes)
    : sayWith(WORDS.hours, Math.round(minutes / 60));
}

const DAY = 86_400_000;

/** A span that may be as long as a retention: days if it is long, whole seconds if it has them. @param {number} ms */
export function lengthText(ms) {
  if (ms >= 2 * DAY) return sayWith(WORDS.days, Math.round(ms / DAY));
  return ms < 60_000 && ms % 1_000 === 0 ? `${ms / 1_000} s` : spanText(ms);
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

/** A text exactly as it is; it scrolls by keyboard too. @param {{ text: string, label: string }} props */
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
