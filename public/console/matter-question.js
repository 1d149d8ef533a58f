/** What a search for matters asks for, from what stands in the address. Pure. */
import { MATTER_WORDS } from './matters-words.js';
import { windowOf } from './range.js';

/** What is typed in: its name in the address is that in the question. The longest that the service takes. */
export const TEXTS = {
  externalIdPrefix: { words: MATTER_WORDS.prefix, max: 128 },
  username: { words: MATTER_WORDS.username, max: 64 },
  bizType: { words: MATTER_WORDS.bizType, max: 64 },
  bizStatus: { words: MATTER_WORDS.status, max: 64 },
};

/**
 * @param {import('./route.js').Params} params
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

/** What changes while pages are read stands on two of them: its first word is the newer one. @template {{ readonly externalId: string }} T @param {readonly T[]} rows */
export function eachOnce(rows) {
  const seen = new Set();
  return rows.filter(({ externalId }) => !seen.has(externalId) && seen.add(externalId));
}
