/** What a push changed in its matter, field by field. */
import { h } from './lib/preact.js';
import { say, sayWith } from './speech.js';
import { WORDS } from './words.js';

/** @typedef {import('./shapes').Change} Change */

/** @param {{ changes: readonly Change[] }} props */
export function ChangeItems({ changes }) {
  if (changes.length === 0) return h('p', {}, say(WORDS.noChanges));
  const names = (
    /** @type {import('./speech.js').Words} */ words,
    /** @type {readonly string[]} */ all = [],
  ) => (all.length > 0 ? ` ${sayWith(words, all.join(', '))}` : '');
  return h(
    'ul',
    {},
    changes.map(({ field, from, to, added, removed, unread }) =>
      h(
        'li',
        { key: field },
        h('code', {}, field),
        from !== undefined || to !== undefined
          ? h(
              'span',
              {},
              ' ',
              h('bdi', {}, String(from ?? '–')),
              ' → ',
              h('bdi', {}, String(to ?? '–')),
            )
          : null,
        names(WORDS.added, added),
        names(WORDS.removed, removed),
        names(WORDS.unread, unread),
      ),
    ),
  );
}
