/** The second step: the field of each column, and the options of the comparison. */

import { Fragment, h } from 'preact';
import { say, sayWith } from '../../kit/speech.js';
import { FIELDS } from './mapping.js';
import { clip } from './report.js';
import { compare, mapColumn, setOptions } from './run.js';
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
    h(Option, { name: 'orphans' }),
    h(Option, { name: 'overwriteNewer' }),
    isRows && !state.mapping.value.includes('matterType') && h(DefaultType, {}),
    lacksId && h('p', { class: 'note' }, say(RECONCILE.needsId)),
    h(
      'p',
      { class: 'buttons' },
      h(
        'button',
        { type: 'submit', id: 'compare', class: 'main', disabled: lacksId || !!state.work.value },
        say(RECONCILE.compare),
      ),
    ),
  );
}

/** @param {{ name: 'hasHead' | 'orphans' | 'overwriteNewer' }} props */
const Option = ({ name }) =>
  h(
    'label',
    { class: 'check' },
    h('input', {
      type: 'checkbox',
      id: `option-${name}`,
      checked: state.options.value[name],
      onChange: ({ currentTarget }) => setOptions({ [name]: currentTarget.checked }),
    }),
    say(RECONCILE.options[name]),
  );

/** A file without kinds of matters cannot create missing matters otherwise. */
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
        onChange: (/** @type {any} */ { currentTarget }) =>
          setOptions({ matterType: currentTarget.value }),
      },
      h('option', { value: '' }, say(RECONCILE.noDefaultType)),
      ['TODO', 'NOTICE', 'ALERT', 'REMIND'].map((type) =>
        h('option', { value: type, key: type }, type),
      ),
    ),
  );

function Mapping() {
  const records = state.opened.value?.records ?? [];
  const { hasHead } = state.options.value;
  const samples = records.slice(hasHead ? 1 : 0).slice(0, SAMPLES);
  const more = state.mapping.value.length - MAX_COLUMNS;
  const head = [RECONCILE.column, RECONCILE.means, RECONCILE.values];
  return h(
    Fragment,
    {},
    h('p', { class: 'quiet' }, say(RECONCILE.columnsAbout)),
    h(Option, { name: 'hasHead' }),
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
        columnNames()
          .slice(0, MAX_COLUMNS)
          .map((name, at) =>
            h(
              'tr',
              { key: at },
              h('th', { scope: 'row' }, h('bdi', {}, name)),
              h('td', {}, h(Field, { at })),
              h(
                'td',
                { class: 'quiet' },
                h(
                  'bdi',
                  {},
                  samples.map(({ cells }) => clip(cells[at] ?? '', LETTERS)).join(' · '),
                ),
              ),
            ),
          ),
      ),
    ),
    more > 0 && h('p', { class: 'quiet' }, sayWith(RECONCILE.moreColumns, more)),
  );
}

/** @returns the names of the columns, or their numbers if the file does not name them */
export function columnNames() {
  const { hasHead } = state.options.value;
  const names = state.opened.value?.records[0]?.cells ?? [];
  return names.map((name, at) =>
    hasHead && name ? clip(name, LETTERS) : sayWith(RECONCILE.columnNumber, at + 1),
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
      onChange: (/** @type {any} */ { currentTarget }) => mapColumn(at, currentTarget.value),
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
