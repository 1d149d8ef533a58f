/** One value for a field of all ticked bodies. Nothing is sent: it makes a plan that the service checks. */
import { FAILURES } from './failures-words.js';
import { useState } from './lib/hooks.js';
import { h } from './lib/preact.js';
import { say, sayWith } from './speech.js';

/** @typedef {import('./set-field.js').Change} Change */
/** @typedef {keyof typeof FAILURES.setForms} Form */

/** @param {{ fields: readonly string[], count: number, plan: (set: { field: string, change: Change }) => void }} props */
export function SetField({ fields, count, plan }) {
  const [chosen, setChosen] = useState('');
  const field = fields.includes(chosen) ? chosen : (fields[0] ?? '');
  const [form, setForm] = useState(/** @type {Form} */ ('text'));
  const [value, setValue] = useState('');
  const change = changeOf(form, value);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (change !== undefined && count > 0) plan({ field, change });
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

/** @param {Form} form @param {string} value @returns {Change | undefined} undefined: it is none */
function changeOf(form, value) {
  if (form === 'remove') return 'remove';
  if (form === 'text') return { json: JSON.stringify(value) };
  try {
    JSON.parse(value);
    return { json: value };
  } catch {
    return undefined;
  }
}
