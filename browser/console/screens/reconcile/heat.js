/** Days and types at a glance: where what a file says comes to the same as what is here, and where it does not. */
import { h } from 'preact';
import { say, sayWith } from '../../kit/speech.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

/** @typedef {import('./digest.js').Cell} Cell */

/** The last days, and the types with the most; what is beyond is added up. */
const [DAYS, TYPES] = [45, 25];
/** Names of what is added up; no day and no type is called so. */
const [EARLIER, OTHER] = ['\u0000earlier', '\u0000other'];

export function HeatMap() {
  const { value: heat } = state.heat;
  if (heat === undefined) return null;
  if (heat === null) return h('p', { class: 'quiet' }, say(RECONCILE.heatNone));
  const { cells, byHash, hasTypes } = heat;
  const { days, types, at } = gather(cells);
  const differing = cells.filter(({ isSame }) => !isSame).length;
  return h(
    'details',
    { class: 'card heat', open: differing > 0 },
    h(
      'summary',
      {},
      h('h2', {}, say(RECONCILE.heat)),
      ' ',
      differing === 0
        ? say(RECONCILE.heatSame)
        : sayWith(RECONCILE.heatDiffer, differing, cells.length),
    ),
    h('p', { class: 'quiet' }, say(byHash ? RECONCILE.heatAbout : RECONCILE.heatByCount)),
    h(
      'div',
      { class: 'sideways', tabIndex: 0, role: 'region', 'aria-label': say(RECONCILE.heat) },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, say(RECONCILE.fields.bizType)),
            days.map((day) => h('th', { key: day, scope: 'col' }, dayText(day))),
          ),
        ),
        h(
          'tbody',
          {},
          types.map((type) =>
            h(
              'tr',
              { key: type },
              h('th', { scope: 'row' }, h('bdi', {}, typeText(type, hasTypes))),
              days.map((day) => h(Field, { key: day, cell: at(type, day), day, type, hasTypes })),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {{ cell: Cell | undefined, day: string | null, type: string | null, hasTypes: boolean }} props */
function Field({ cell, day, type, hasTypes }) {
  if (!cell) return h('td', {});
  const { yours, here, isSame } = cell;
  const tone = isSame ? 'same' : yours === here ? 'other' : here === 0 ? 'yours' : 'differs';
  const text = isSame ? '✓' : yours === here ? '≠' : `${yours}/${here}`;
  const words = [typeText(type, hasTypes), dayText(day), yours, here];
  return h('td', { class: tone, title: sayWith(RECONCILE.heatCell, ...words) }, text);
}

/** @param {string | null} day */
const dayText = (day) =>
  day === null ? say(RECONCILE.noDay) : day === EARLIER ? say(RECONCILE.earlier) : day.slice(2);

/** @param {string | null} type @param {boolean} hasTypes */
function typeText(type, hasTypes) {
  if (type === OTHER) return say(RECONCILE.otherTypes);
  if (type !== null) return type.slice(0, 40);
  return say(hasTypes ? RECONCILE.noType : RECONCILE.allTypes);
}

/** @param {readonly Cell[]} cells */
export function gather(cells) {
  const order = (/** @type {string | null} */ a, /** @type {string | null} */ b) =>
    (a ?? '') < (b ?? '') ? -1 : 1;
  const allDays = [...new Set(cells.map(({ day }) => day))].sort(order);
  const lastDays = new Set(allDays.slice(-DAYS));
  /** @type {Map<string | null, number>} */
  const sizes = new Map();
  for (const { bizType, yours, here } of cells) {
    sizes.set(bizType, (sizes.get(bizType) ?? 0) + yours + here);
  }
  const bySize = [...sizes].sort(([, a], [, b]) => b - a).map(([type]) => type);
  const mainTypes = new Set(bySize.slice(0, TYPES));
  /** @type {Map<string | null, Map<string | null, Cell>>} */
  const fields = new Map();
  for (const { bizType, day, yours, here, isSame } of cells) {
    const type = mainTypes.has(bizType) ? bizType : OTHER;
    const column = day === null || lastDays.has(day) ? day : EARLIER;
    const row = fields.get(type) ?? new Map();
    fields.set(type, row);
    const before = row.get(column);
    row.set(column, {
      bizType: type,
      day: column,
      yours: yours + (before?.yours ?? 0),
      here: here + (before?.here ?? 0),
      isSame: isSame && (before?.isSame ?? true),
    });
  }
  const columns = new Set([...fields.values()].flatMap((row) => [...row.keys()]));
  return {
    days: [...columns].sort(order),
    types: [...fields.keys()].sort(order),
    at: (/** @type {string | null} */ type, /** @type {string | null} */ day) =>
      fields.get(type)?.get(day),
  };
}
