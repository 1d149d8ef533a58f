/** The second step: what each column means, and how to compare. */

import { Fragment, h } from 'preact';
import { say, sayWith } from '../../kit/speech.js';
import { FIELDS } from './mapping.js';
import { compare, mapColumn } from './run.js';
import * as state from './state.js';
import { RECONCILE } from './words.js';

/** Columns that are shown, values of each, and letters of a value. */
const [MAX_COLUMNS, SAMPLES, LETTERS] = [60, 3, 40];

export function Columns() {
  const { value: opened } = state.opened;
  const isCsv = opened?.form === 'csv';
  const isRows = opened?.form !== 'pushes';
  const lacksId = isCsv && !state.mapping.value.includes('externalId');
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!lacksId) void compare();
  };
  return h(
    'form',
    { class: 'card', onSubmit: submit },
    isCsv && h(Mapping, {}),
    h(Option, { name: 'orphans', words: RECONCILE.orphans }),
    h(Option, { name: 'overwriteNewer', words: RECONCILE.overwrite }),
    isRows && !state.mapping.value.includes('matterType') && h(DefaultType, {}),
    lacksId && h('p', { class: 'note' }, say(RECONCILE.needsId)),
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        { type: 'submit', id: 'compare', class: 'main', disabled: lacksId || !!state.work.value },
        say(state.result.value ? RECONCILE.compareAgain : RECONCILE.compare),
      ),
    ),
  );
}

/** @param {{ name: 'orphans' | 'overwriteNewer', words: import('../../kit/speech.js').Words }} props */
const Option = ({ name, words }) =>
  h(
    'label',
    { class: 'check' },
    h('input', {
      type: 'checkbox',
      id: `option-${name}`,
      checked: state.options.value[name],
      onChange: (/** @type {any} */ event) => {
        state.options.value = { ...state.options.value, [name]: event.currentTarget.checked };
      },
    }),
    say(words),
  );

/** Without it a file that names no types cannot create what is missing. */
const DefaultType = () =>
  h(
    'label',
    { class: 'check' },
    say(RECONCILE.defaultType),
    h(
      'select',
      {
        id: 'default-type',
        value: state.options.value.matterType,
        onChange: (/** @type {any} */ event) => {
          state.options.value = { ...state.options.value, matterType: event.currentTarget.value };
        },
      },
      h('option', { value: '' }, say(RECONCILE.noDefaultType)),
      ['TODO', 'NOTICE', 'ALERT', 'REMIND'].map((type) =>
        h('option', { value: type, key: type }, type),
      ),
    ),
  );

function Mapping() {
  const records = state.opened.value?.records ?? [];
  const names = records[0]?.cells ?? [];
  const samples = records.slice(state.hasHead.value ? 1 : 0).slice(0, SAMPLES);
  const more = names.length - MAX_COLUMNS;
  const head = [RECONCILE.column, RECONCILE.means, RECONCILE.values];
  return h(
    Fragment,
    {},
    h('h2', {}, say(RECONCILE.columns)),
    h('p', { class: 'quiet' }, say(RECONCILE.columnsAbout)),
    h(
      'label',
      { class: 'check' },
      h('input', {
        type: 'checkbox',
        id: 'has-head',
        checked: state.hasHead.value,
        onChange: (/** @type {any} */ event) => {
          state.hasHead.value = event.currentTarget.checked;
        },
      }),
      say(RECONCILE.hasHead),
    ),
    h(
      'table',
      { class: 'columns' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map((words) => h('th', { key: words[0], scope: 'col' }, say(words))),
        ),
      ),
      h(
        'tbody',
        {},
        names.slice(0, MAX_COLUMNS).map((name, at) => {
          const shown =
            state.hasHead.value && name !== '' ? name : sayWith(RECONCILE.columnNumber, at + 1);
          return h(
            'tr',
            { key: at },
            h('th', { scope: 'row' }, h('bdi', {}, clip(shown))),
            h('td', {}, h(Field, { at })),
            h(
              'td',
              { class: 'quiet' },
              h('bdi', {}, samples.map(({ cells }) => clip(cells[at] ?? '')).join(' · ')),
            ),
          );
        }),
      ),
    ),
    more > 0 && h('p', { class: 'quiet' }, sayWith(RECONCILE.moreColumns, more)),
  );
}

/** @param {{ at: number }} props */
const Field = ({ at }) =>
  h(
    'select',
    {
      id: `column-${at}`,
      'aria-label': sayWith(RECONCILE.columnOf, at + 1),
      value: state.mapping.value[at] ?? '',
      onChange: (/** @type {any} */ event) => mapColumn(at, event.currentTarget.value),
    },
    h('option', { value: '' }, say(RECONCILE.notUsed)),
    FIELDS.map((name) =>
      h(
        'option',
        { value: name, key: name },
        `${say(RECONCILE.fields[/** @type {'title'} */ (name)])} (${name})`,
      ),
    ),
  );

/** @param {string} text */
const clip = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS)}…` : text);
