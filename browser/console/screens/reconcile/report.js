/** A difference and its result as text. Pure. */

import { say } from '../../kit/speech.js';
import { reasonWords } from '../../read/reasons.js';
import { RECONCILE } from './words.js';

/** A value of one side, as in JSON. @param {unknown} value */
export const valueText = (value) => {
  if (value === null || value === undefined) return '–';
  return Array.isArray(value) ? value.join(' ') : String(value);
};

/** @param {string} text @param {number} letters that are shown: a value may be a page long */
export const clip = (text, letters) =>
  text.length > letters ? `${text.slice(0, letters)}…` : text;

/** @param {import('./compare.js').Side} side */
export const sideText = (side) =>
  Object.entries(side ?? {})
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join('; ');

/** The result of a checked or sent matter. @param {import('./state.js').Verdict} verdict */
export function verdictText({ name, reason, message = '', fields = [] }) {
  if (name) return say(RECONCILE.results[name]);
  return [reason ? say(reasonWords(reason)) : message, ...fields].join(' · ');
}
