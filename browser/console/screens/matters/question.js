/** The query of a search for matters, from the parameters of the address. Pure. */

import { windowOf } from '../../read/range.js';
import { MATTER_WORDS } from './words.js';

/** The text fields of the search. A name is the same in the address and in the query; `max` is the limit of the service. */
export const TEXTS = {
  externalIdPrefix: { words: MATTER_WORDS.prefix, max: 128 },
  username: { words: MATTER_WORDS.username, max: 64 },
  bizType: { words: MATTER_WORDS.bizType, max: 64 },
  bizStatus: { words: MATTER_WORDS.status, max: 64 },
};

/**
 * @param {import('../../kit/route.js').Params} params
 * @param {string} timeZone
 * @param {number} now epoch milliseconds
 * @returns {Record<string, string>} for matters/query
 */
export function questionOf(params, timeZone, now) {
  const names = [...Object.keys(TEXTS), 'matterType', 'phase'];
  const given = names.map((name) => [name, (params[name] ?? '').trim()]);
  const { from, to } =
    params.changed === 'range' ? windowOf(params, timeZone, now) : { from: '', to: '' };
  const all = [...given, ['updatedFrom', from], ['updatedTo', to]];
  return Object.fromEntries(all.filter(([, value]) => value !== ''));
}

/** A matter that changes while pages are read is on two of them; its first row is the newer one. @template {{ readonly externalId: string }} T @param {readonly T[]} rows */
export function eachOnce(rows) {
  const seen = new Set();
  return rows.filter(({ externalId }) => !seen.has(externalId) && seen.add(externalId));
}
