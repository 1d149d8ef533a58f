/** One value for an invalid field of all selected pushes. It makes a preview; nothing is sent. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { say, sayWith } from '../../kit/speech.js';
import { FAILURES } from '../../send/words.js';

/** @typedef {import('../../send/resend.js').FieldValue} FieldValue */
/** @typedef {keyof typeof FAILURES.setForms} Form */

/** @param {{ fields: readonly string[], count: number, plan: (value: FieldValue) => void }} props */
export function SetField({ fields, count, plan }) {
  const [chosen, setChosen] = useState('');
  const field = fields.includes(chosen) ? chosen : (fields[0] ?? '');
  const [form, setForm] = useState(/** @type {Form} */ ('text'));
  const [value, setValue] = useState('');
  const change = changeOf(field, form, value);
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

/** @param {string} field @param {Form} form @param {string} value @returns {FieldValue | undefined} undefined: not a JSON value */
function changeOf(field, form, value) {
  if (form === 'remove') return { field, remove: true };
  if (form === 'text') return { field, value };
  try {
    return { field, value: JSON.parse(value) };
  } catch {
    return undefined;
  }
}
