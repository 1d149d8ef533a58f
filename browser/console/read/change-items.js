/** The changes of a push in its matter, field by field, in the language of the user. */
import { h } from 'preact';
import { CHANGE_WORDS, FIELDS, KINDS, PRIORITIES, ROLES, STATUSES } from '../kit/matter-words.js';
import { say, sayName, sayWith } from '../kit/speech.js';
import { timeText } from './answer-parts.js';

/** @typedef {import('./shapes').Change} Change */
/** @typedef {import('../kit/speech.js').Words} Words */

/** The words for the values of a field. @type {Readonly<Record<string, Readonly<Record<string, Words>>>>} */
const VALUES = { bizStatus: STATUSES, matterType: KINDS, priority: PRIORITIES };
const TIMES = ['deadlineAt', 'sourceUpdatedAt'];

/** @param {string} field @param {Change['to']} value */
function valueText(field, value) {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return say(value ? CHANGE_WORDS.yes : CHANGE_WORDS.no);
  if (TIMES.includes(field)) return timeText(value);
  return sayName(VALUES[field] ?? {}, value);
}

/** @param {string} party role and username, separated by a blank */
function partyText(party) {
  const [role = '', ...name] = party.split(' ');
  return `${sayName(ROLES, role)} ${name.join(' ')}`;
}

/** @param {Words} words @param {readonly string[]} [parties] */
const partiesText = (words, parties = []) =>
  parties.length > 0 ? ` ${sayWith(words, parties.map(partyText).join(', '))}` : '';

/** @param {{ changes: readonly Change[] }} props */
export function ChangeItems({ changes }) {
  if (changes.length === 0) return h('p', {}, say(CHANGE_WORDS.none));
  return h(
    'ul',
    { class: 'changes' },
    changes.map(({ field, from, to, added, removed, unread }) =>
      h(
        'li',
        { key: field },
        h('span', { class: 'quiet', title: field }, sayName(FIELDS, field)),
        to === undefined ? null : ' ',
        from === undefined ? null : h('bdi', {}, valueText(field, from)),
        from === undefined ? null : ' → ',
        to === undefined ? null : h('bdi', {}, valueText(field, to)),
        h(
          'bdi',
          {},
          partiesText(CHANGE_WORDS.added, added),
          partiesText(CHANGE_WORDS.removed, removed),
          partiesText(CHANGE_WORDS.unread, unread),
        ),
      ),
    ),
  );
}
