/** Preformatted texts with a copy button. */
import { element } from './dom.js';
import { say } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Words} Words */

/** How long a button shows "Copied", in milliseconds. */
const SAID_MS = 2_000;

/** It scrolls, also by the keyboard. @param {string} text */
export function verbatim(text) {
  const code = element('code', {}, text);
  const pre = element('pre', { tabindex: '0' }, code);
  return element('div', { class: 'verbatim' }, pre, copyButton(code));
}

/** A value as JSON; a text as it is. @param {unknown} value */
export const pretty = (value) =>
  verbatim(typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** @param {HTMLElement} code */
function copyButton(code) {
  const label = element('span', { 'aria-live': 'polite' }, say(WORDS.copy));
  const button = element('button', { type: 'button', class: 'copy' }, label);
  button.addEventListener('click', () => {
    label.replaceChildren(say(copyFrom(code) ? WORDS.copied : WORDS.selected));
    setTimeout(() => label.replaceChildren(say(WORDS.copy)), SAID_MS);
  });
  return button;
}

/**
 * Over plain http a page has no navigator.clipboard, so this uses the older command. The text stays
 * selected, so that the user can copy it if the browser rejects the command.
 *
 * @param {HTMLElement} code
 * @returns {boolean} whether it was copied
 */
function copyFrom(code) {
  getSelection()?.selectAllChildren(code);
  return document.execCommand('copy');
}
