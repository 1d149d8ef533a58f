/** The inputs of the form that fixes a push. */

import { Fragment, h } from 'preact';
import { useState } from 'preact/hooks';
import { say } from '../../kit/speech.js';
import { fieldOf, isSettable, setField, spanOf, valueAt } from '../../send/set-field.js';
import { isOtherThanText, kindOf, localTimeIn, timeTextOf } from './field-kinds.js';
import { PUSH } from './words.js';

/** @typedef {import('../../read/shapes').FieldProblem} FieldProblem */
/** @typedef {{ text: string, setText: (text: string) => void }} Editing */

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One input for each invalid field. @param {{ fields: readonly string[], errors: readonly FieldProblem[] } & Editing} props */
export function FieldInputs({ fields, errors, text, setText }) {
  if (!isJson(text)) return null;
  const places = [...new Set(fields)].filter((place) => isSettable(fieldOf(place)));
  return places.map((place) => {
    const problem = errors.find(({ field }) => placeOf(field) === place)?.message;
    return h(
      'div',
      { key: place, class: 'field' },
      h(
        'label',
        { for: `fix-${place}` },
        h('code', {}, place),
        problem && h('span', { class: 'bad' }, ` ${problem}`),
      ),
      h(FieldInput, { place, isBad: problem !== undefined, text, setText }),
    );
  });
}

/** A problem names a field of the push. @param {string} field */
const placeOf = (field) => field.replace(/^push\./, '');

/** @param {{ place: string, isBad: boolean } & Editing} props */
function FieldInput({ place, isBad, text, setText }) {
  const json = valueAt(text, place);
  const shown = shownOf(json);
  const field = kindOf(place, json);
  const set = (/** @type {string} */ value) => setText(setField(text, place, value));
  const props = { id: `fix-${place}`, 'data-field': place, 'aria-invalid': String(isBad) };
  if (field.kind === 'json') {
    const edit = () => openAt(place, text);
    return h('button', { type: 'button', ...props, onClick: edit }, say(PUSH.editJson));
  }
  if (field.kind === 'choice') {
    const isListed = field.options.some(([value]) => value === json);
    return h(
      'select',
      {
        ...{ ...props, value: json ?? '' },
        onChange: (/** @type {any} */ event) => set(event.currentTarget.value),
      },
      !isListed && h('option', { value: json ?? '', disabled: true }, shown || '–'),
      field.options.map(([value, words]) => h('option', { key: value, value }, say(words))),
    );
  }
  const isTime = field.kind === 'time';
  return h(
    Fragment,
    {},
    h('input', {
      ...props,
      ...(isTime ? { type: 'datetime-local', step: 1 } : { type: 'text' }),
      value: isTime ? localTimeIn(shown) : shown,
      onInput: (/** @type {any} */ { currentTarget: { value } }) =>
        set(JSON.stringify(isTime ? timeTextOf(value) : value)),
    }),
    isTime && shown !== '' && h('span', { class: 'quiet' }, ' ', h('code', {}, shown)),
    !isTime &&
      isOtherThanText(json) &&
      h('button', { type: 'button', onClick: () => set(JSON.stringify(shown)) }, say(PUSH.asText)),
  );
}

/** @param {string | undefined} json */
function shownOf(json) {
  if (json === undefined || json === 'null') return '';
  const value = JSON.parse(json);
  return typeof value === 'string' ? value : json;
}

/** Opens the JSON editor with a field selected. @param {string} place @param {string} text */
function openAt(place, text) {
  const area = document.getElementById('fix-body');
  if (!(area instanceof HTMLTextAreaElement)) return;
  area.closest('details')?.setAttribute('open', '');
  area.focus();
  const span = spanOf(text, place);
  if (span) area.setSelectionRange(...span);
}

/** The whole body. It is open if no input belongs to the problem. @param {{ errors: readonly FieldProblem[] } & Editing} props */
export function BodyEditor({ errors, text, setText }) {
  const [isOpen] = useState(!isJson(text) || !errors.some(({ field }) => hasInput(field, text)));
  return h(
    'details',
    { class: 'advanced', open: isOpen },
    h('summary', {}, say(PUSH.advanced)),
    h(
      'label',
      {},
      say(PUSH.body),
      h('textarea', {
        id: 'fix-body',
        rows: 16,
        spellcheck: false,
        dir: 'ltr',
        value: text,
        'aria-invalid': String(errors.length > 0),
        onInput: (/** @type {any} */ event) => setText(event.currentTarget.value),
      }),
    ),
    h(Marks, { errors, text }),
  );
}

/** @param {string} field of a problem @param {string} text */
function hasInput(field, text) {
  const place = placeOf(field);
  return isSettable(fieldOf(place)) && kindOf(place, valueAt(text, place)).kind !== 'json';
}

/** Each problem leads to its field in the text. @param {{ errors: readonly FieldProblem[], text: string }} props */
function Marks({ errors, text }) {
  if (errors.length === 0) return null;
  return h(
    'ul',
    { class: 'marks' },
    errors.map(({ field, message }) =>
      h(
        'li',
        { key: field + message },
        h(
          'button',
          { type: 'button', onClick: () => openAt(placeOf(field), text) },
          h('code', {}, field),
        ),
        ` ${message}`,
      ),
    ),
  );
}
