/** The matters whose external id starts with the text of the search box: that text may be the start of an id. */
import { h } from 'preact';
import { hrefOf } from '../../kit/route.js';
import { say } from '../../kit/speech.js';
import { useAsk } from '../../read/load.js';
import { PUSHES } from './words.js';

/** @typedef {import('../../read/matter-shapes').MattersPage} MattersPage */

/** Matters that are shown. */
const SHOWN = 5;
/** The maximum length of an external id. */
const MAX_ID = 128;

/** @param {{ q: string }} props */
export function FoundMatters({ q }) {
  const externalIdPrefix = q.trim();
  const isId = externalIdPrefix.length <= MAX_ID;
  const question = { externalIdPrefix, newestFirst: true, limit: SHOWN };
  const { data } = useAsk('matters/query', isId ? question : undefined);
  const { matters, nextCursor } = /** @type {MattersPage} */ (data ?? { matters: [] });
  if (matters.length === 0) return null;
  return h(
    'div',
    { class: 'card found' },
    h('h2', {}, say(PUSHES.foundMatters)),
    h(
      'ul',
      {},
      matters.map(({ externalId, title = '' }) =>
        h(
          'li',
          { key: externalId },
          h('a', { href: hrefOf('matter', { externalId }) }, h('bdi', {}, externalId)),
          ' ',
          h('bdi', { class: 'quiet' }, title),
        ),
      ),
    ),
    nextCursor !== null &&
      h('a', { href: hrefOf('matters', { externalIdPrefix }) }, say(PUSHES.allMatters)),
  );
}
