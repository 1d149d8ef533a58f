/** Matters by business type. The count runs on request only, because the service reads the whole ledger for it. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { numberText, Waiting } from '../../kit/parts.js';
import { say } from '../../kit/speech.js';
import { Failure } from '../../read/answer-parts.js';
import { ask } from '../../read/ask.js';
import { ledgerOf } from './sums.js';
import { OVERVIEW } from './words.js';

/** @typedef {import('./sums.js').LedgerRow} LedgerRow */

/** @returns {Promise<LedgerRow[]>} */
async function countLedger() {
  // One after the other: a system may run one of these queries at a time.
  const all = await ask('matters/digest', {});
  const open = await ask('matters/digest', { open: true });
  return ledgerOf(all.buckets, open.buckets);
}

export function Ledger() {
  const [told, setTold] = useState(
    /** @type {{ rows?: LedgerRow[], error?: unknown, isLoading?: boolean }} */ ({}),
  );
  const count = () => {
    setTold({ isLoading: true });
    countLedger().then(
      (rows) => setTold({ rows }),
      (error) => setTold({ error }),
    );
  };
  return h(
    'section',
    { class: 'card ledger', 'aria-label': say(OVERVIEW.ledger) },
    h('h2', {}, say(OVERVIEW.ledger)),
    h('p', { class: 'quiet' }, say(OVERVIEW.ledgerAbout)),
    h(
      'button',
      { type: 'button', disabled: told.isLoading === true, onClick: count },
      say(OVERVIEW.countLedger),
    ),
    told.isLoading && h(Waiting, {}),
    told.error ? h(Failure, { error: told.error, again: count }) : null,
    told.rows && h(Types, { rows: told.rows }),
  );
}

/** @param {{ rows: readonly LedgerRow[] }} props */
function Types({ rows }) {
  const sum = (/** @type {'all' | 'open'} */ name) => rows.reduce((all, row) => all + row[name], 0);
  const line = (/** @type {any} */ name, /** @type {number} */ all, /** @type {number} */ open) => [
    h('th', { scope: 'row', key: 'name' }, name),
    [open, all - open, all].map((value, at) => h('td', { key: at }, numberText(value))),
  ];
  const head = [OVERVIEW.type, OVERVIEW.open, OVERVIEW.concluded, OVERVIEW.together];
  return h(
    'div',
    { class: 'plain-table', tabIndex: 0, role: 'region', 'aria-label': say(OVERVIEW.ledger) },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map((words) => h('th', { scope: 'col', key: words[0] }, say(words))),
        ),
      ),
      h(
        'tbody',
        {},
        rows.map(({ type, all, open }) =>
          h(
            'tr',
            { key: String(type) },
            line(h('bdi', {}, type ?? say(OVERVIEW.noType)), all, open),
          ),
        ),
      ),
      h('tfoot', {}, h('tr', {}, line(say(OVERVIEW.together), sum('all'), sum('open')))),
    ),
  );
}
