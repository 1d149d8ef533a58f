/** The table of failed matters: what is wrong, what became of each, and the link that fixes it. */

import { Fragment, h } from 'preact';
import { isNarrow } from '../../kit/narrow.js';
import { numberText } from '../../kit/parts.js';
import { hrefOf } from '../../kit/route.js';
import { say, sayWith } from '../../kit/speech.js';
import { Table } from '../../kit/table.js';
import { timeText } from '../../read/answer-parts.js';
import { causeOf, messageOf, subjectOf } from '../../read/failure-groups.js';
import { reasonWords } from '../../read/reasons.js';
import { FAILURES } from '../../send/words.js';

/** @typedef {import('../../read/shapes').FailedRow} FailedRow */
/** @typedef {ReadonlyMap<string, import('../../send/use-resend.js').RowText>} Texts by matter */
/**
 * @typedef {object} RowsProps
 * @property {readonly FailedRow[]} rows
 * @property {string} field of the group
 * @property {ReadonlySet<string>} selected
 * @property {(selected: ReadonlySet<string>) => void} setSelected
 * @property {Texts} texts
 * @property {boolean} isLocked the selection cannot be changed
 * @property {import('./details.js').Details} details
 */

/** Of two lines. */
const ROW_HEIGHT = 56;
/** Of six lines. */
const NARROW_ROW_HEIGHT = 144;

/** @param {RowsProps} props */
export const Rows = (props) =>
  h(Table, {
    rows: props.rows,
    rowHeight: isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT,
    label: say(FAILURES.rows),
    head: [
      { name: 'select', title: '✓' },
      { name: 'matter', title: say(FAILURES.matter) },
      { name: 'problem', title: say(FAILURES.reason) },
      { name: 'failed', title: say(FAILURES.failed) },
      { name: 'state', title: say(FAILURES.state) },
      { name: 'act', title: say(FAILURES.fix) },
    ],
    keyOf: (/** @type {FailedRow} */ row) => row.requestId,
    toneOf: (/** @type {FailedRow} */ row) => props.texts.get(subjectOf(row))?.tone ?? '',
    cells: (/** @type {FailedRow} */ row) => cellsOf(row, props),
  });

/** Two lines: the second one is quiet. @param {any} first @param {any} second @param {string} [title] of the whole text */
const lines = (first, second, title = '') =>
  h(Fragment, {}, first, h('div', { class: 'quiet', title }, second));

/** @param {FailedRow} row @param {RowsProps} props */
function cellsOf(row, { field, selected, setSelected, texts, isLocked, details }) {
  const name = subjectOf(row);
  const { externalId, idempotencyKey, operation, reason, lastSeen, failures } = row;
  const cause = causeOf(row);
  const { requestId } = cause;
  const called = externalId ?? idempotencyKey ?? row.requestId;
  const { title = '', value = '' } = details.get(requestId) ?? {};
  const problem = messageOf(cause, field) ?? say(reasonWords(cause.reason));
  const later = row.cause ? sayWith(FAILURES.later, say(reasonWords(reason))) : '';
  const select = (/** @type {boolean} */ isSelected) => {
    const next = new Set(selected);
    if (isSelected) next.add(name);
    else next.delete(name);
    setSelected(next);
  };
  return [
    h('input', {
      type: 'checkbox',
      'aria-label': sayWith(FAILURES.select, called),
      ...{ checked: selected.has(name), disabled: isLocked },
      onChange: (/** @type {any} */ event) => select(event.currentTarget.checked),
    }),
    lines(
      h('a', { href: hrefOf('push', { id: requestId }) }, h('bdi', { title: called }, called)),
      h('bdi', {}, title || operation),
      title,
    ),
    lines(
      h('bdi', { title: problem }, problem),
      h(Fragment, {}, value && h('code', {}, h('bdi', {}, value)), later && ` ${later}`),
      `${value} ${later}`,
    ),
    lines(timeText(lastSeen), failures > 1 ? `× ${numberText(failures)}` : ''),
    stateOf(row, texts.get(name)),
    row.mended
      ? ''
      : h('a', { href: hrefOf('push', { id: requestId, fix: '1' }) }, say(FAILURES.fix)),
  ];
}

/** @param {FailedRow} row @param {import('../../send/use-resend.js').RowText | undefined} result */
function stateOf({ mended }, result) {
  if (result) return h('span', { class: 'text', title: result.text }, h('bdi', {}, result.text));
  if (!mended) return say(FAILURES.open);
  const href = hrefOf('push', { id: mended.requestId });
  return h('a', { href }, sayWith(FAILURES.resolvedAt, timeText(mended.at)));
}
