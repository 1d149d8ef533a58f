/** Which input fixes a field of a push. Pure. */
import { KINDS, ROLES } from '../../kit/matter-words.js';
import { fieldOf } from '../../send/set-field.js';

/** @typedef {import('../../kit/speech.js').Words} Words */
/** @typedef {readonly (readonly [json: string, words: Words])[]} Options */
/**
 * `options`: the values as JSON, with their words. `json`: only the JSON editor can fix the value.
 *
 * @typedef {{ readonly kind: 'text' | 'time' | 'json' } | { readonly kind: 'choice', readonly options: Options }} FieldKind
 */

/** @param {Readonly<Record<string, Words>>} words @returns {Options} */
const namesOf = (words) =>
  Object.entries(words).map(([name, [english, chinese]]) => [
    JSON.stringify(name),
    [`${name} – ${english}`, `${name} – ${chinese}`],
  ]);
/** @type {Options} */
const YES_NO = [
  ['true', ['true – Yes', 'true – 是']],
  ['false', ['false – No', 'false – 否']],
];
/** By the name of the field. */
const CHOICES = new Map([
  ['matterType', namesOf(KINDS)],
  ['partyRole', namesOf(ROLES)],
  ['replaceParties', YES_NO],
  ['resetAssigneeUnread', YES_NO],
]);
const TIMES = ['deadlineAt', 'sourceUpdatedAt'];
const LISTS = ['parties'];

/** @param {string} place `title`, `parties[3].partyRole` @param {string | undefined} json its value; undefined: absent @returns {FieldKind} */
export function kindOf(place, json) {
  const name = fieldOf(place).split('.').at(-1) ?? '';
  const options = CHOICES.get(name);
  if (options) return { kind: 'choice', options };
  if (TIMES.includes(name)) return { kind: 'time' };
  const isStructure = json !== undefined && /^[[{]/.test(json);
  const isList = LISTS.includes(name) || name.endsWith('[]');
  return { kind: isStructure || isList ? 'json' : 'text' };
}

/** Whether a text belongs in place of the value. @param {string | undefined} json */
export const isOtherThanText = (json) => json !== undefined && json !== 'null' && json[0] !== '"';

/** The value of an input for a date and time, which shows local times only. @param {string} shown */
export const localTimeIn = (shown) =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?$/.test(shown) ? shown.replace(' ', 'T') : '';

/** With seconds, which a browser leaves out if they are zero. @param {string} input of an input for a date and time */
export const timeTextOf = (input) => (input.length === 16 ? `${input}:00` : input);
