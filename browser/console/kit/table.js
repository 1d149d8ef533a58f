/**
 * A table with rows of one height. Only visible rows are in the document, so that 100,000 rows scroll like ten.
 * Up, Down, Home and End move the focus from row to row.
 */

import { h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { createScale } from './tall.js';

/** Rows beyond each edge that are in the document too, so that fast scrolling shows no gaps. */
const BEYOND = 8;
/** The table requests more rows when this number is left below. */
const NEAR_END = 40;

/**
 * @typedef {object} Column
 * @property {string} name a class of its cells
 * @property {import('./speech.js').Words} title
 */

/**
 * @param {{
 *   rows: readonly any[],
 *   rowHeight: number,
 *   label: string,
 *   head: readonly { name: string, title: string }[],
 *   cells: (row: any, index: number) => readonly any[],
 *   keyOf: (row: any) => string,
 *   toneOf?: (row: any) => string,
 *   onNearEnd?: () => void,
 * }} props the first link or input of a row receives the focus
 */
export function Table({ rows, rowHeight, label, head, cells, keyOf, toneOf, onNearEnd }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [{ top, height }, setSeen] = useState({ top: 0, height: 800 });
  const look = () => {
    const box = scroller.current;
    if (box) setSeen({ top: box.scrollTop, height: box.clientHeight });
  };
  useLayoutEffect(() => {
    look();
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  const scale = createScale(rows.length, rowHeight, height);
  const seen = scale.offsetAt(top);
  const first = Math.max(0, Math.floor(seen / rowHeight) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((seen + height) / rowHeight) + BEYOND);
  useLayoutEffect(() => {
    if (last >= rows.length - NEAR_END) onNearEnd?.();
  }, [last, rows.length]);
  /** The row that receives the focus as soon as it is in the document. */
  const wanted = useRef(/** @type {number | undefined} */ (undefined));
  useLayoutEffect(() => {
    const row = `[data-index="${wanted.current}"]`;
    const target = scroller.current?.querySelector(`${row} a, ${row} input`);
    if (wanted.current === undefined || !(target instanceof HTMLElement)) return;
    wanted.current = undefined;
    target.focus({ preventScroll: true });
  });
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const box = scroller.current;
    const to = box ? rowGoneTo(event, rows.length) : undefined;
    if (!box || to === undefined) return;
    event.preventDefault();
    bringInSight(box, to, rows.length, rowHeight);
    wanted.current = to;
    look();
  };
  const shown = rows.slice(first, last).map((row, at) => {
    const index = first + at;
    const place = scale.placeOf(index, top);
    const style = { transform: `translateY(${place}px)`, height: `${rowHeight}px` };
    return h(
      'div',
      {
        key: keyOf(row),
        role: 'row',
        class: `row ${toneOf?.(row) ?? ''}`,
        'aria-rowindex': index + 2,
        'data-index': index,
        style,
      },
      cells(row, index).map((cell, column) =>
        h('div', { role: 'cell', class: `cell ${head[column]?.name ?? ''}`, key: column }, cell),
      ),
    );
  });
  return h(
    'div',
    { class: 'table', role: 'table', 'aria-label': label, 'aria-rowcount': rows.length + 1 },
    h(
      'div',
      { role: 'rowgroup', class: 'head' },
      h(
        'div',
        { role: 'row', class: 'row', 'aria-rowindex': 1 },
        head.map(({ name, title }) =>
          h('div', { role: 'columnheader', class: `cell ${name}`, key: name }, title),
        ),
      ),
    ),
    h(
      'div',
      { role: 'rowgroup', class: 'scroller', ref: scroller, onScroll: look, onKeyDown },
      h(
        'div',
        { class: 'space', role: 'presentation', style: { height: `${scale.height}px` } },
        shown,
      ),
    ),
  );
}

/** @param {KeyboardEvent} event @param {number} count @returns {number | undefined} undefined: the key moves to no row */
function rowGoneTo({ key, target }, count) {
  if (target instanceof HTMLInputElement && target.type === 'text') return undefined;
  const row = /** @type {HTMLElement} */ (target).closest('.row');
  const at = Number(row instanceof HTMLElement ? row.dataset.index : Number.NaN);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[key];
  return to === undefined || Number.isNaN(at) || to < 0 || to >= count ? undefined : to;
}

/** @param {HTMLElement} box @param {number} index @param {number} count @param {number} rowHeight */
function bringInSight(box, index, count, rowHeight) {
  const scale = createScale(count, rowHeight, box.clientHeight);
  const seen = scale.offsetAt(box.scrollTop);
  const edge = index * rowHeight;
  if (edge < seen) box.scrollTop = scale.scrollTopAt(edge);
  if (edge + rowHeight > seen + box.clientHeight) {
    box.scrollTop = scale.scrollTopAt(edge + rowHeight - box.clientHeight);
  }
}
