/** The failed matters of one reason and field: ticked, sent again after a plan, mended, with what became of each. */
import { subjectOf } from './failure-groups.js';
import { Plan, Work } from './failure-panel.js';
import { SetField } from './failure-set.js';
import { useSending } from './failure-work.js';
import { FAILURES } from './failures-words.js';
import { useState } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { isNarrow } from './narrow.js';
import { Nothing, numberText, timeText } from './parts.js';
import { actFor } from './reasons.js';
import { hrefOf } from './route.js';
import { fieldOf, isSettable } from './set-field.js';
import { say, sayWith } from './speech.js';
import { Table } from './table.js';

/** @typedef {import('./shapes').FailedRow} FailedRow */
/** @typedef {ReturnType<typeof import('./failure-list.js').useFailureList>} List */
/** @typedef {ReadonlyMap<string, { readonly tone: string, readonly text: string }>} Told by subject */

const ROW_HEIGHT = 36;
/** Of two lines. */
const NARROW_ROW_HEIGHT = 62;

/**
 * @param {{ rows: readonly FailedRow[], reason: string, field: string, list: List }} props
 */
export function FailureGroup({ rows, reason, field, list }) {
  const [ticked, setTicked] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const chosen = rows.filter((row) => ticked.has(subjectOf(row)));
  const act = actFor(reason);
  const work = useSending({ rows: chosen, isChecked: act === 'mend' });
  const isIdle = work.state.phase === 'idle';
  // What is sent mends them, and may not have come to its end.
  if (rows.length === 0 && isIdle) {
    if (list.isLoading || list.error) return null;
    return h('div', { class: 'empty' }, h(Nothing, { text: say(FAILURES.mendedHere) }));
  }
  const tickAll = (/** @type {boolean} */ all) =>
    setTicked(new Set(all ? rows.map(subjectOf) : []));
  const fields = settableOf(work.state, field);
  /** While it is sent nothing is closed; of an input method Escape only ends what is being written. */
  const closeOnEscape = (/** @type {KeyboardEvent} */ { key, isComposing }) => {
    if (key !== 'Escape' || isComposing || !['planning', 'planned'].includes(work.state.phase))
      return;
    work.cancel();
    work.reset();
    // The button that had the focus may be gone.
    document.getElementById('tick-all')?.focus();
  };
  return h(
    'div',
    { class: 'group', onKeyDown: closeOnEscape },
    h('p', {}, h('strong', {}, say(FAILURES.acts[act])), ` – ${say(FAILURES.advice[act])}`),
    h(Ticks, { chosen: chosen.length, all: rows.length, tickAll }),
    isIdle && h(Plan, { count: chosen.length, plan: () => work.plan(undefined) }),
    h(Work, { work, again: list.again }),
    fields.length > 0 && h(SetField, { fields, count: chosen.length, plan: work.plan }),
    h(Rows, { rows, ticked, setTicked, told: work.told }),
  );
}

/**
 * Fields for which one value may be set: that of the group, and once there is a plan those by which it fails.
 *
 * @param {ReturnType<typeof useSending>['state']} state
 * @param {string} field
 */
function settableOf({ phase, matters }, field) {
  if (phase === 'idle') return isSettable(field) ? [field] : [];
  if (phase !== 'planned') return [];
  const places = matters.flatMap((matter) => [...(matter.places?.values() ?? [])].flat());
  return [...new Set(places.map(fieldOf))].filter(isSettable);
}

/** @param {{ chosen: number, all: number, tickAll: (all: boolean) => void }} props */
const Ticks = ({ chosen, all, tickAll }) =>
  h(
    'p',
    { class: 'buttons' },
    h(
      'button',
      { type: 'button', id: 'tick-all', onClick: () => tickAll(true) },
      say(FAILURES.tickAll),
    ),
    h(
      'button',
      { type: 'button', id: 'tick-none', onClick: () => tickAll(false) },
      say(FAILURES.tickNone),
    ),
    h(
      'span',
      { role: 'status', class: 'quiet' },
      sayWith(FAILURES.ticked, numberText(chosen), numberText(all)),
    ),
  );

/** @param {{ rows: readonly FailedRow[], ticked: ReadonlySet<string>, setTicked: (ticked: ReadonlySet<string>) => void, told: Told }} props */
function Rows({ rows, ticked, setTicked, told }) {
  const toggle = (/** @type {string} */ name, /** @type {boolean} */ isTicked) => {
    const next = new Set(ticked);
    if (isTicked) next.add(name);
    else next.delete(name);
    setTicked(next);
  };
  return h(Table, {
    rows,
    rowHeight: isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT,
    label: say(FAILURES.rows),
    head: [
      { name: 'tick', title: '✓' },
      { name: 'matter', title: say(FAILURES.matter) },
      { name: 'operation', title: say(FAILURES.operation) },
      { name: 'failed', title: say(FAILURES.failed) },
      { name: 'times', title: say(FAILURES.times) },
      { name: 'state', title: say(FAILURES.state) },
      { name: 'act', title: say(FAILURES.mend) },
    ],
    keyOf: (/** @type {FailedRow} */ row) => row.requestId,
    toneOf: (/** @type {FailedRow} */ row) => told.get(subjectOf(row))?.tone ?? '',
    cells: (/** @type {FailedRow} */ row) => cellsOf(row, ticked, toggle, told),
  });
}

/** @param {FailedRow} row @param {ReadonlySet<string>} ticked @param {(name: string, isTicked: boolean) => void} toggle @param {Told} told */
function cellsOf(row, ticked, toggle, told) {
  const name = subjectOf(row);
  const { requestId, externalId, idempotencyKey, operation, lastSeen, failures, mended } = row;
  const called = externalId ?? idempotencyKey ?? requestId;
  const state = mended
    ? h(
        'a',
        { href: hrefOf('push', { id: mended.requestId }) },
        sayWith(FAILURES.mendedAt, timeText(mended.at)),
      )
    : say(FAILURES.notMended);
  const result = told.get(name);
  return [
    h('input', {
      type: 'checkbox',
      'aria-label': sayWith(FAILURES.tick, called),
      checked: ticked.has(name),
      onChange: (/** @type {any} */ event) => toggle(name, event.currentTarget.checked),
    }),
    h('a', { href: hrefOf('push', { id: requestId }) }, h('bdi', { title: called }, called)),
    operation,
    timeText(lastSeen),
    `× ${numberText(failures)}`,
    result ? h('span', { class: 'told', title: result.text }, h('bdi', {}, result.text)) : state,
    mended
      ? ''
      : h('a', { href: hrefOf('push', { id: requestId, mend: '1' }) }, say(FAILURES.mend)),
  ];
}
