/** One value for an invalid field of all selected pushes. It makes a preview; nothing is sent. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { say, sayWith } from '../../kit/speech.js';
import { FAILURES } from '../../send/words.js';

/** @typedef {import('../../send/resend.js').FieldValue} FieldValue */
/** @typedef {import('../../send/resend.js').Scalar} Scalar */
/** @typedef {keyof typeof FAILURES.setForms} Form */

/** Values that can be replaced alone. */
const MAX_OFFERED = 50;

/**
 * @param {{
 *   fields: readonly string[], count: number, invalidOf: (field: string) => readonly Scalar[],
 *   plan: (value: FieldValue) => void,
 * }} props `invalidOf`: the different invalid values of a field in the selected matters
 */
export function SetField({ fields, count, invalidOf, plan }) {
  const [chosen, setChosen] = useState('');
  const field = fields.includes(chosen) ? chosen : (fields[0] ?? '');
  const [form, setForm] = useState(/** @type {Form} */ ('text'));
  const [value, setValue] = useState('');
  const offered = invalidOf(field).slice(0, MAX_OFFERED);
  const [chosenFrom, setFrom] = useState(/** @type {Scalar | undefined} */ (undefined));
  const from = offered.length > 1 && offered.includes(chosenFrom ?? '') ? chosenFrom : undefined;
  const change = changeOf({ field, ...(from !== undefined && { from }) }, form, value);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (change !== undefined && count > 0) plan(change);
  };
  return h(
    'form',
    { class: 'card set', onSubmit: submit },
    h('h2', {}, sayWith(FAILURES.setTitle, field)),
    h(
      'p',
      { class: 'buttons' },
      fields.length > 1 &&
        h(
          'select',
          {
            id: 'set-field',
            'aria-label': say(FAILURES.field),
            value: field,
            onChange: (/** @type {any} */ event) => setChosen(event.currentTarget.value),
          },
          fields.map((name) => h('option', { value: name, key: name }, name)),
        ),
      offered.length > 1 &&
        h(
          'select',
          {
            id: 'set-from',
            'aria-label': say(FAILURES.setFrom),
            value: from === undefined ? '' : String(offered.indexOf(from)),
            onChange: (/** @type {any} */ event) => setFrom(offered[event.currentTarget.value]),
          },
          h('option', { value: '' }, say(FAILURES.anyValue)),
          offered.map((it, place) => h('option', { value: String(place), key: it }, String(it))),
        ),
      h(
        'select',
        {
          id: 'set-form',
          'aria-label': say(FAILURES.setTo),
          value: form,
          onChange: (/** @type {any} */ event) => setForm(event.currentTarget.value),
        },
        Object.entries(FAILURES.setForms).map(([name, words]) =>
          h('option', { value: name, key: name }, say(words)),
        ),
      ),
      form !== 'remove' &&
        h('input', {
          id: 'set-value',
          type: 'text',
          'aria-label': sayWith(FAILURES.setTitle, field),
          'aria-invalid': String(change === undefined),
          value,
          onInput: (/** @type {any} */ event) => setValue(event.currentTarget.value),
        }),
      h(
        'button',
        { type: 'submit', disabled: count === 0 || change === undefined },
        say(FAILURES.planSet),
      ),
    ),
    change === undefined &&
      value !== '' &&
      h('p', { class: 'bad', role: 'status' }, say(FAILURES.notJson)),
  );
}

/** @param {Pick<FieldValue, 'field' | 'from'>} place @param {Form} form @param {string} value @returns {FieldValue | undefined} undefined: not a JSON value */
function changeOf(place, form, value) {
  if (form === 'remove') return { ...place, remove: true };
  if (form === 'text') return { ...place, value };
  try {
    return { ...place, value: JSON.parse(value) };
  } catch {
    return undefined;
  }
}
