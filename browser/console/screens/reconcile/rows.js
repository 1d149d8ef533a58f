/** Yours beside here, for each matter that differs; of very many only those in sight are in the document. */
import { h } from 'preact';
import { isNarrow } from '../../kit/narrow.js';
import { say, sayWith } from '../../kit/speech.js';
import { Table } from '../../kit/table.js';
import { timeText } from '../../read/answer-parts.js';
import { clip, valueText, verdictText } from './report.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

/** @typedef {import('./compare.js').Difference} Difference */

/** Of two lines. */
const ROW_HEIGHT = 56;
/** Of several lines. */
const NARROW_ROW_HEIGHT = 176;
/** Letters of a value. */
const LETTERS = 120;
const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

export const Differences = () =>
  h(Table, {
    rows: state.shownRows.value,
    rowHeight: isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT,
    label: say(RECONCILE.table),
    head: [
      { name: 'tick', title: say(RECONCILE.ticks) },
      { name: 'matter', title: say(RECONCILE.fields.externalId) },
      { name: 'kind', title: say(RECONCILE.kind) },
      { name: 'yours', title: say(RECONCILE.yours) },
      { name: 'here', title: say(RECONCILE.here) },
      { name: 'mends', title: say(RECONCILE.mends) },
    ],
    keyOf: (/** @type {Difference} */ row) => row.externalId,
    toneOf: (/** @type {Difference} */ row) => state.verdicts.value.get(row.externalId)?.tone ?? '',
    cells: cellsOf,
  });

/** @param {Difference} row */
const cellsOf = (row) => [
  h(Tick, { row }),
  h('bdi', { title: row.externalId }, row.externalId),
  h('span', {}, row.kinds.map((kind) => say(RECONCILE.kinds[kind])).join(', ')),
  h(Shown, { title: RECONCILE.yours, side: row.yours, absent: say(RECONCILE.notInFile) }),
  h(Shown, { title: RECONCILE.here, side: row.here, absent: say(RECONCILE.notHere) }),
  h(Mends, { row }),
];

/** @param {{ row: Difference }} props */
const Tick = ({ row }) =>
  h('input', {
    type: 'checkbox',
    'aria-label': sayWith(RECONCILE.tick, row.externalId),
    // Not disabled: the keyboard goes from row to row over them.
    'aria-disabled': String(!state.canSend(row)),
    onClick: (/** @type {Event} */ event) => {
      if (!state.canSend(row)) event.preventDefault();
    },
    checked: state.ticked.value.has(row.externalId),
    onChange: (/** @type {any} */ event) => {
      if (!state.canSend(row)) return;
      const after = new Set(state.ticked.value);
      if (event.currentTarget.checked) after.add(row.externalId);
      else after.delete(row.externalId);
      state.ticked.value = after;
    },
  });

/** @param {{ title: import('../../kit/speech.js').Words, side: Difference['yours'], absent: string }} props */
function Shown({ title, side, absent }) {
  // For those who see no head.
  const label = h('span', { class: 'quiet label' }, `${say(title)}: `);
  if (!side) return h('span', {}, label, h('span', { class: 'quiet' }, absent));
  const parts = Object.entries(side).map(([name, value]) => {
    const words = RECONCILE.fields[/** @type {'title'} */ (name)] ?? [name, name];
    return h(
      'span',
      { class: 'part', key: name },
      h('span', { class: 'quiet' }, `${say(words)} `),
      h('bdi', {}, shownValue(value)),
    );
  });
  return h('span', { title: Object.values(side).map(shownValue).join(' · ') }, label, parts);
}

/** @param {unknown} value */
function shownValue(value) {
  const text = valueText(value);
  if (INSTANT.test(text)) return timeText(text);
  return clip(text, LETTERS);
}

/** @param {{ row: Difference }} props */
function Mends({ row }) {
  const verdict = state.verdicts.value.get(row.externalId);
  if (verdict) {
    const text = verdictText(verdict);
    return h('span', { class: 'told', title: text }, h('bdi', {}, text));
  }
  return mendsText(row);
}

/** @param {Difference} row */
export function mendsText({ push }) {
  const name = push === null ? 'none' : typeof push === 'object' ? push.op : push;
  return say(RECONCILE.push[name]);
}
