/** The search for matters: its query, from the parameters of the address, and the names that the page compares. Pure. */

import { windowOf } from '../../read/range.js';
import { MATTER_WORDS } from './words.js';

/** @typedef {import('../../kit/route.js').Params} Params */
/** @typedef {import('../../read/matter-shapes').Party} Party */

/** The text fields of the search. A name is the same in the address and in the query; `max` is the limit of the service. */
export const TEXTS = {
  titleContains: { words: MATTER_WORDS.titleContains, max: 100 },
  externalIdPrefix: { words: MATTER_WORDS.prefix, max: 128 },
  username: { words: MATTER_WORDS.username, max: 64 },
  bizType: { words: MATTER_WORDS.bizType, max: 64 },
  bizStatus: { words: MATTER_WORDS.status, max: 64 },
};

/** Maximum characters of the words in names. The service does not search display names: the page compares them. */
export const MAX_WORDS = 128;

/**
 * Whether the search has a time range. A search by names has one, unless an id or a user limits the matters that are
 * read.
 *
 * @param {Params} params
 */
export const hasRange = ({ changed, words = '', externalIdPrefix = '', username = '' }) =>
  changed === 'range' || (words.trim() !== '' && !externalIdPrefix.trim() && !username.trim());

/**
 * Whether the names of the people contain all words.
 *
 * @param {{ readonly parties: readonly Pick<Party, 'username' | 'displayName'>[] }} matter
 * @param {string} words
 */
export function hasNames({ parties }, words) {
  const names = parties.flatMap(({ username, displayName }) => [username, displayName]);
  const text = names.join('\n').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/**
 * @param {Params} params
 * @param {string} timeZone
 * @param {number} now epoch milliseconds
 * @returns {Record<string, string>} for matters/query
 */
export function questionOf(params, timeZone, now) {
  const names = [...Object.keys(TEXTS), 'matterType', 'phase'];
  const given = names.map((name) => [name, (params[name] ?? '').trim()]);
  const { from, to } = hasRange(params) ? windowOf(params, timeZone, now) : { from: '', to: '' };
  const all = [...given, ['updatedFrom', from], ['updatedTo', to]];
  return Object.fromEntries(all.filter(([, value]) => value !== ''));
}
