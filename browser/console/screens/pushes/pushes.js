/** The pushes of the system: saved views, filters, a search, and live updates. */

import { h } from 'preact';
import { OPERATION_WORDS } from '../../kit/matter-words.js';
import { lookAnew, useMoment } from '../../kit/moment.js';
import { isNarrow } from '../../kit/narrow.js';
import { LookOn, lengthText, Nothing, spanText, Waiting } from '../../kit/parts.js';
import { hrefOf, route, show } from '../../kit/route.js';
import { say, sayName, sayWith } from '../../kit/speech.js';
import { Table } from '../../kit/table.js';
import { WORDS } from '../../kit/words.js';
import { Failure, resultText, timeText, toneOf } from '../../read/answer-parts.js';
import { OPERATIONS } from '../../read/bodies.js';
import { Heading } from '../../read/heading.js';
import { actFor, reasonWords } from '../../read/reasons.js';
import { seesBodies, self } from '../../read/self.js';
import { questionsOf, reasonsIn } from '../../read/views.js';
import { When } from '../../read/when.js';
import { MAX_WORDS, TEXTS } from '../matters/question.js';
import { FoundMatters } from './found-matters.js';
import { usePushList } from './list.js';
import { MAX_ROWS } from './rows.js';
import { PUSHES } from './words.js';

/** @typedef {import('./rows.js').Row} Row */

const ROW_HEIGHT = 36;
/** Of two lines. */
const NARROW_ROW_HEIGHT = 58;

export function Pushes() {
  const { params } = route.value;
  const zone = self.value?.timeZone;
  const isLive = params.live === 'on';
  const moment = useMoment();
  const list = usePushList(zone ? questionsOf(params, zone, moment) : undefined, isLive);
  const again = () => {
    lookAnew();
    list.again();
  };
  return h(
    'section',
    { class: 'pushes' },
    h(Heading, {}, say(WORDS.pushes)),
    h(Filters, {}),
    params.q && h(Searched, { q: params.q }),
    params.q && h(FoundMatters, { q: params.q }),
    list.notRecorded > 0 && h('p', { class: 'note' }, sayWith(WORDS.notRecorded, list.notRecorded)),
    list.error ? h(Failure, { error: list.error, again }) : null,
    h(Rows, { list }),
  );
}

/** @param {{ list: ReturnType<typeof usePushList> }} props */
function Rows({ list }) {
  const { rows, open, isLoading, isPaused, error } = list;
  if (rows.length === 0) {
    if (isLoading) {
      const isLong = open.some(({ cursor }) => cursor);
      return h('div', {}, h(Waiting, {}), isLong && h('p', { class: 'quiet' }, say(WORDS.looking)));
    }
    if (error) return null;
    return open.length > 0 ? h(LookOn, { list }) : h(Empty, {});
  }
  return h(
    'div',
    {},
    h('p', { class: 'quiet', role: 'status' }, countText(list)),
    h(Table, {
      rows,
      rowHeight: isNarrow.value ? NARROW_ROW_HEIGHT : ROW_HEIGHT,
      label: say(WORDS.pushes),
      head: [
        { name: 'received', title: say(PUSHES.received) },
        { name: 'operation', title: say(PUSHES.operation) },
        { name: 'matter', title: say(WORDS.matter) },
        { name: 'result', title: say(PUSHES.result) },
        { name: 'took', title: say(PUSHES.took) },
      ],
      keyOf: (/** @type {Row} */ row) => row.requestId,
      toneOf,
      cells: cellsOf,
      onNearEnd: isPaused ? undefined : list.more,
    }),
    isPaused && h(LookOn, { list }),
  );
}

/** @param {ReturnType<typeof usePushList>} list */
function countText({ rows, open, isLoading }) {
  if (rows.length >= MAX_ROWS) return sayWith(PUSHES.tooMany, rows.length);
  const words = open.length > 0 ? PUSHES.countMore : PUSHES.countShown;
  return `${sayWith(words, rows.length)}${isLoading ? ` – ${say(WORDS.looking)}` : ''}`;
}

/** The row of a push is a link: its first cell covers the others. @param {Row} row */
const cellsOf = (row) => [
  h(
    'a',
    {
      class: 'cover',
      href: hrefOf('push', { id: row.requestId }),
      title: `${timeText(row.receivedAt, true)} · ${row.reason ?? row.outcome ?? row.state}`,
    },
    h(When, { at: row.receivedAt }),
  ),
  sayName(OPERATION_WORDS, row.operation),
  h('bdi', {}, row.externalId ?? row.idempotencyKey ?? '–'),
  h('span', { class: `badge ${toneOf(row)}` }, resultText(row)),
  row.settledAt ? spanText(Date.parse(row.settledAt) - Date.parse(row.receivedAt)) : '–',
];

/** @param {{ q: string }} props */
const Searched = ({ q }) =>
  h(
    'p',
    { class: 'buttons' },
    h('span', { class: 'quiet' }, say(PUSHES.searched), ' ', h('bdi', {}, q)),
    h('button', { type: 'button', onClick: () => show({ q: '' }) }, say(PUSHES.clearSearch)),
    h(
      'a',
      { class: 'button', href: hrefOf('matters', titleSearch(q)) },
      say(seesBodies() ? PUSHES.searchTitles : PUSHES.searchNames),
    ),
  );

/** A key without access to bodies may only search the names of people. @param {string} q @returns {Record<string, string>} */
const titleSearch = (q) =>
  seesBodies()
    ? { titleContains: q.slice(0, TEXTS.titleContains.max) }
    : { words: q.slice(0, MAX_WORDS), range: 'week' };

/** No push matches: why that may be, and the next steps. */
function Empty() {
  const { q, view, operation, reason } = route.value.params;
  const me = /** @type {import('../../read/setup-shapes').OwnSelf | undefined} */ (self.value);
  const clear = () => show({ view: '', operation: '', reason: '' });
  return h(
    Nothing,
    { text: say(PUSHES.noPushes) },
    me && h('p', {}, sayWith(PUSHES.noPushesWhy, lengthText(me.retentions.pushLog * 1_000))),
    h(
      'p',
      { class: 'buttons' },
      (view || operation || reason) &&
        h('button', { type: 'button', onClick: clear }, say(PUSHES.clearFilters)),
      q &&
        h(
          'a',
          { class: 'button', href: hrefOf('matters', { externalIdPrefix: q.slice(0, 128) }) },
          say(PUSHES.searchMatters),
        ),
    ),
  );
}

function Filters() {
  const { view = 'all', operation = '', reason = '', live = '' } = route.value.params;
  const reasons = reasonsIn(view);
  return h(
    'div',
    { class: 'filters' },
    h(
      'div',
      { role: 'group', 'aria-label': say(PUSHES.views), class: 'views' },
      Object.entries(PUSHES.view).map(([name, words]) =>
        h(
          'button',
          {
            type: 'button',
            key: name,
            'aria-pressed': String(name === view),
            onClick: () => show({ view: name === 'all' ? '' : name, reason: '' }),
          },
          say(words),
        ),
      ),
    ),
    h(Choice, {
      label: say(PUSHES.operation),
      value: operation,
      options: OPERATIONS.map((name) => [name, sayName(OPERATION_WORDS, name)]),
      onChoose: (value) => show({ operation: value }),
    }),
    reasons.length > 1 &&
      h(Choice, {
        label: say(PUSHES.reason),
        value: reason,
        groups: Object.entries(PUSHES.acts).map(([act, words]) => ({
          label: say(words),
          options: reasons
            .filter((name) => actFor(name) === act)
            .map((name) => [name, say(reasonWords(name))]),
        })),
        onChoose: (value) => show({ reason: value }),
      }),
    h(
      'label',
      { class: 'check' },
      h('input', {
        type: 'checkbox',
        checked: live === 'on',
        onChange: (event) => show({ live: event.currentTarget.checked ? 'on' : '' }),
      }),
      say(PUSHES.live),
    ),
  );
}

/** @typedef {readonly (readonly string[])[]} Options names and texts */

/** @param {Options} options */
const optionsOf = (options) =>
  options.map(([name, text]) => h('option', { value: name, key: name }, text));

/** @param {{ label: string, value: string, none?: string, options?: Options, groups?: readonly { label: string, options: Options }[], onChoose: (value: string) => void }} props */
export const Choice = ({
  label,
  value,
  none = say(PUSHES.any),
  options = [],
  groups = [],
  onChoose,
}) =>
  h(
    'label',
    {},
    label,
    h(
      'select',
      { value, onChange: (/** @type {any} */ event) => onChoose(event.currentTarget.value) },
      h('option', { value: '' }, none),
      optionsOf(options),
      groups
        .filter((group) => group.options.length > 0)
        .map((group) =>
          h('optgroup', { key: group.label, label: group.label }, optionsOf(group.options)),
        ),
    ),
  );
