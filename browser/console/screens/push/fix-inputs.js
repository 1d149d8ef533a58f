/** The inputs of the form that fixes a push. */

import { h } from 'preact';
import { useState } from 'preact/hooks';
import { say } from '../../kit/speech.js';
import { fieldOf, isSettable, setField, spanOf, valueAt } from '../../send/set-field.js';
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
    const problem = errors.find(({ field }) => field.replace(/^push\./, '') === place)?.message;
    const json = valueAt(text, place);
    return h(
      'label',
      { key: place, class: 'field' },
      h('code', {}, place),
      problem && h('span', { class: 'bad' }, ` ${problem}`),
      h('input', {
        type: 'text',
        'data-field': place,
        'aria-invalid': String(problem !== undefined),
        value: shownOf(json),
        onInput: (/** @type {any} */ event) =>
          setText(setField(text, place, jsonOf(event.currentTarget.value, json))),
      }),
    );
  });
}

/** @param {string | undefined} json */
function shownOf(json) {
  if (json === undefined || json === 'null') return '';
  const value = JSON.parse(json);
  return typeof value === 'string' ? value : json;
}

/** A text stays a text. Another value stays another value as long as the input is JSON. @param {string} input @param {string | undefined} before */
function jsonOf(input, before) {
  const wasText = before === undefined || before === 'null' || before.startsWith('"');
  return !wasText && isJson(input) ? input : JSON.stringify(input);
}

/** The whole body. It is open if no input belongs to the problem. @param {{ errors: readonly FieldProblem[] } & Editing} props */
export function BodyEditor({ errors, text, setText }) {
  const [isOpen] = useState(
    !isJson(text) || !errors.some(({ field }) => isSettable(fieldOf(field))),
  );
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

/** Each problem leads to its field in the text. @param {{ errors: readonly FieldProblem[], text: string }} props */
function Marks({ errors, text }) {
  if (errors.length === 0) return null;
  const find = (/** @type {string} */ field) => {
    const area = document.getElementById('fix-body');
    if (!(area instanceof HTMLTextAreaElement)) return;
    area.focus();
    const span = spanOf(text, field.replace(/^push\./, ''));
    if (span) area.setSelectionRange(...span);
  };
  return h(
    'ul',
    { class: 'marks' },
    errors.map(({ field, message }) =>
      h(
        'li',
        { key: field + message },
        h('button', { type: 'button', onClick: () => find(field) }, h('code', {}, field)),
        ` ${message}`,
      ),
    ),
  );
}
