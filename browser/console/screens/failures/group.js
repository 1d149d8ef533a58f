/** The failed matters of one reason and field: select them, resend them after a preview, or fix one. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { Nothing, numberText } from '../../kit/parts.js';
import { say, sayWith } from '../../kit/speech.js';
import { WORDS } from '../../kit/words.js';
import { Failure } from '../../read/answer-parts.js';
import { causeOf, subjectOf } from '../../read/failure-groups.js';
import { mayPush, seesBodies, self } from '../../read/self.js';
import { isSettableForAll } from '../../send/set-field.js';
import { useResend } from '../../send/use-resend.js';
import { FAILURES } from '../../send/words.js';
import { Users } from '../setup/users.js';
import { scalarsIn, useDetails, valuesIn } from './details.js';
import { nextStepFor } from './groups.js';
import { ResendPanel } from './panel.js';
import { Rows } from './rows.js';
import { SetField } from './set.js';

/** @typedef {import('../../read/shapes').FailedRow} FailedRow */
/** @typedef {ReturnType<typeof import('./list.js').useFailureList>} List */
/** @typedef {ReturnType<typeof useResend>} Resend */

/** Values that have a button of their own. */
const MAX_VALUES = 6;

/**
 * @param {{ rows: readonly FailedRow[], reason: string, field: string, list: List, filter: Record<string, unknown> }} props
 *   `filter`: the range and view, for push-logs/query
 */
export function FailureGroup({ rows, reason, field, list, filter }) {
  const [selected, setSelected] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
  const chosen = rows.filter((row) => selected.has(subjectOf(row)));
  const act = nextStepFor(reason);
  const work = useResend(chosen);
  const { details, error } = useDetails(rows, field, { ...filter, reason });
  const invalid = scalarsIn(chosen, details);
  const isIdle = work.state.phase === 'idle';
  const isSending = work.state.phase === 'sending';
  // The list may be empty before the resend has ended.
  if (rows.length === 0 && isIdle) {
    if (list.isLoading || list.error) return null;
    return h('div', { class: 'empty' }, h(Nothing, { text: say(FAILURES.resolvedHere) }));
  }
  const selectAll = (/** @type {boolean} */ all) =>
    setSelected(new Set(all ? rows.map(subjectOf) : []));
  const fields = mayPush() ? settableOf(work.state, field) : [];
  /** Escape closes the preview. It does not stop a resend, and it belongs to an input method first. */
  const closeOnEscape = (/** @type {KeyboardEvent} */ { key, isComposing }) => {
    if (key !== 'Escape' || isComposing || !['planning', 'planned'].includes(work.state.phase))
      return;
    work.cancel();
    work.reset();
    // The button that had the focus may be gone.
    document.getElementById('select-all')?.focus();
  };
  return h(
    'div',
    { class: 'group', onKeyDown: closeOnEscape },
    h('p', {}, h('strong', {}, say(FAILURES.acts[act])), ` – ${say(FAILURES.advice[act])}`),
    self.value && !mayPush() && h('p', { class: 'note' }, say(FAILURES.readOnly)),
    !seesBodies() && h('p', { class: 'note' }, say(WORDS.hiddenBodies)),
    h(Actions, { chosen: chosen.length, all: rows.length, selectAll, work }),
    !isSending && h(Values, { rows, details, setSelected }),
    error ? h(Failure, { error }) : null,
    isIdle && mayPush() && h('p', { class: 'quiet' }, say(FAILURES.planAbout)),
    h(ResendPanel, { work, again: list.again, field, invalid }),
    reason === 'UNKNOWN_USER' &&
      h(Users, {
        isFolded: true,
        suggested: valuesIn(details)
          .map(([name]) => name)
          .join('\n'),
      }),
    fields.length > 0 &&
      h(SetField, {
        ...{ fields, count: chosen.length, plan: work.plan },
        invalidOf: (name) => (name === field ? invalid : []),
      }),
    h(Rows, {
      ...{ rows, field, selected, setSelected, details },
      ...{ texts: work.texts, isLocked: isSending },
    }),
  );
}

/**
 * Fields for which one value may be set: that of the group, and after a preview those that are invalid.
 *
 * @param {Resend['state']} state
 * @param {string} field
 */
function settableOf({ phase, matters }, field) {
  if (phase === 'idle') return isSettableForAll(field) ? [field] : [];
  if (phase !== 'planned') return [];
  const fields = matters.flatMap(({ fields: invalid = [] }) => invalid);
  return [...new Set(fields)].filter(isSettableForAll);
}

/** @param {{ chosen: number, all: number, selectAll: (all: boolean) => void, work: Resend }} props */
function Actions({ chosen, all, selectAll, work }) {
  const isSending = work.state.phase === 'sending';
  return h(
    'p',
    { class: 'buttons actions' },
    h(
      'button',
      { type: 'button', id: 'select-all', disabled: isSending, onClick: () => selectAll(true) },
      say(FAILURES.selectAll),
    ),
    h(
      'button',
      { type: 'button', id: 'select-none', disabled: isSending, onClick: () => selectAll(false) },
      say(FAILURES.selectNone),
    ),
    h(
      'span',
      { role: 'status', class: 'quiet' },
      sayWith(FAILURES.selected, numberText(chosen), numberText(all)),
    ),
    work.state.phase === 'idle' &&
      mayPush() &&
      h(
        'button',
        {
          ...{ type: 'button', id: 'plan', class: 'main', disabled: chosen === 0 },
          onClick: () => void work.plan(),
        },
        say(FAILURES.plan),
      ),
  );
}

/** Selects the matters with the same invalid value. @param {{ rows: readonly FailedRow[], details: import('./details.js').Details, setSelected: (selected: ReadonlySet<string>) => void }} props */
function Values({ rows, details, setSelected }) {
  const values = valuesIn(details);
  if (values.length < 2) return null;
  const select = (/** @type {string} */ value) => {
    const own = rows.filter((row) => details.get(causeOf(row).requestId)?.value === value);
    setSelected(new Set(own.map(subjectOf)));
  };
  return h(
    'p',
    { class: 'buttons values' },
    h('span', { class: 'quiet' }, say(FAILURES.byValue)),
    values
      .slice(0, MAX_VALUES)
      .map(([value, count]) =>
        h(
          'button',
          { type: 'button', key: value, onClick: () => select(value) },
          h('bdi', {}, value),
          ` ${numberText(count)}`,
        ),
      ),
  );
}
